package desk

import "herald/db/model"

func (d *Desk) approvalRoutes() []route {
	return []route{
		{"GET /w/{slug}/approvals", model.PostsView, d.ofClient(model.PostsView, d.showApprovals)},
		{"GET /w/{slug}/approvals/{request}", model.PostsView, d.showApproval},
		{"POST /w/{slug}/approvals/{request}/decisions", model.PostsApprove, d.createDecision},
		{"GET /w/{slug}/approvals/{request}/names", model.PostsView, d.showNames},
		{"POST /w/{slug}/approvals/{request}/comments", model.PostsView, d.createApprovalComment},
		{"POST /w/{slug}/suggestions/{suggestion}/adoption", model.PostsWrite, d.createAdoption},
		{"POST /w/{slug}/suggestions/{suggestion}/refusal", model.PostsWrite, d.createSuggestionRefusal},
		{"POST /w/{slug}/review-links/{link}/revocation", model.PostsApprove, d.createLinkRevocation},
		{"POST /w/{slug}/review-links/{link}/successor", model.PostsApprove, d.createLinkSuccessor},
	}
}
