package desk

func (d *Desk) accountRoutes() []route { return nil }
