package desk

import "herald/db/model"

func (d *Desk) calendarRoutes() []route {
	return []route{
		{"GET /w/{slug}/calendar", model.PostsView, d.showCalendar},
		{"GET /w/{slug}/calendar.csv", model.PostsView, d.exportCalendar},
		{"POST /w/{slug}/calendar/moves", model.PostsView, d.createMoves}, // which permission each card needs, Scope.MoveCards says
		{"GET /w/{slug}/posts", model.PostsView, d.showPosts},
		{"POST /w/{slug}/posts/submissions", model.PostsWrite, d.createSubmissions},
		{"POST /w/{slug}/posts/labels", model.PostsWrite, d.createPostLabels},
		{"POST /w/{slug}/posts/retries", model.PostsSchedule, d.createRetries},
	}
}
