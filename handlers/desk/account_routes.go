package desk

import "herald/db/model"

func (d *Desk) accountRoutes() []route {
	return []route{
		{"GET /w/{slug}/accounts", model.AccountsView, d.ofClient(model.AccountsView, d.showAccounts)},
		{"GET /w/{slug}/accounts/new", model.AccountsManage, d.showNewAccount},
		{"POST /w/{slug}/accounts", model.AccountsManage, d.createAccount},
		{"GET /w/{slug}/consents/{consent}", model.AccountsManage, d.showConsent},
		{"POST /w/{slug}/consents/{consent}", model.AccountsManage, d.createConnections},
		{"GET /w/{slug}/accounts/{account}", model.AccountsView, d.showAccount},
		{"POST /w/{slug}/accounts/{account}", model.AccountsManage, d.editAccount},
		{"POST /w/{slug}/accounts/{account}/connection", model.AccountsManage, d.createConnection},
		{"GET /w/{slug}/accounts/{account}/disconnection", model.AccountsManage, d.showDisconnection},
		{"POST /w/{slug}/accounts/{account}/disconnection", model.AccountsManage, d.createDisconnection},
		{"POST /w/{slug}/accounts/{account}/pause", model.AccountsManage, d.pauseAccount},
		{"POST /w/{slug}/accounts/{account}/state", model.AccountsManage, d.switchAccount},
		{"POST /w/{slug}/accounts/{account}/retries", model.PostsSchedule, d.createAccountRetries},
		{"POST /w/{slug}/clients/{client}/pause", model.ClientsManage, d.pauseClient},
		{"POST /w/{slug}/pause", model.WorkspaceManage, d.pauseWorkspace},
	}
}
