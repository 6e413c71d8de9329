package desk

func (d *Desk) approvalRoutes() []route { return nil }
