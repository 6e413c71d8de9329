package desk

import "herald/db/model"

func (d *Desk) activityRoutes() []route {
	return []route{
		{"GET /w/{slug}/activity", model.ActivityView, d.showActivity},
	}
}
