package desk

import "herald/db/model"

func (d *Desk) calendarRoutes() []route {
	return []route{
		{"GET /w/{slug}/calendar", model.PostsView, d.showCalendar},
		{"GET /w/{slug}/calendar.csv", model.PostsView, d.exportCalendar},
		{"POST /w/{slug}/calendar/moves", model.PostsView, d.createMoves}, // which permission each card needs, Scope.MoveCards says
		{"GET /w/{slug}/posts", model.PostsView, d.ofClient(model.PostsView, d.showPosts)},
		{"POST /w/{slug}/posts/submissions", model.PostsWrite, d.createSubmissions},
		{"POST /w/{slug}/posts/labels", model.PostsWrite, d.createPostLabels},
		{"POST /w/{slug}/posts/schedules", model.PostsSchedule, d.createSchedules},
		{"POST /w/{slug}/posts/cancellations", model.PostsSchedule, d.createCancellations},
		{"POST /w/{slug}/posts/moves", model.PostsView, d.createPostMoves}, // which permission each post needs, Scope.MovePosts says
		{"POST /w/{slug}/posts/retries", model.PostsSchedule, d.createRetries},
	}
}
