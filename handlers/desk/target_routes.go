package desk

func (d *Desk) targetRoutes() []route { return nil }
