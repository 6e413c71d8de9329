package desk

import "herald/db/model"

func (d *Desk) targetRoutes() []route {
	return []route{
		{"GET /w/{slug}/targets/{id}", model.PostsView, d.showTarget},
		{"GET /w/{slug}/targets/{id}/status", model.PostsView, d.showTargetStatus},
		{"POST /w/{slug}/targets/{id}/schedule", model.PostsSchedule, d.createTargetSchedule},
		{"POST /w/{slug}/targets/{id}/cancellation", model.PostsSchedule, d.createTargetCancellation},
		{"POST /w/{slug}/targets/{id}/retries", model.PostsSchedule, d.createTargetRetry},
		{"POST /w/{slug}/targets/{id}/holds", model.PostsSchedule, d.createTargetHold},
		{"POST /w/{slug}/targets/{id}/releases", model.PostsSchedule, d.createTargetRelease},
		{"POST /w/{slug}/targets/{id}/findings", model.PostsResolve, d.createTargetFinding},
	}
}
