package desk

func (d *Desk) mediaRoutes() []route { return nil }
