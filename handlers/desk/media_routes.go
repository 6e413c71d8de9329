package desk

import "herald/db/model"

func (d *Desk) mediaRoutes() []route {
	return []route{
		{"POST /w/{slug}/media", model.MediaWrite, d.uploadMedia},
	}
}
