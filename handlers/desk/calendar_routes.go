package desk

func (d *Desk) calendarRoutes() []route { return nil }
