package desk

func (d *Desk) activityRoutes() []route { return nil }
