package desk

func (d *Desk) composerRoutes() []route { return nil }
