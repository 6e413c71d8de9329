package review

import "herald/handlers/web"

// Register adds the addresses of a review link. GET and HEAD change nothing,
// whoever opens them; each POST needs a token from the page.
func Register(mux web.Mux, d Deps) {
	h := &handler{d}
	mux.Handle("GET /looks/{file}", h.Open(showAccent))
	mux.Handle("GET /reminders/{signed}", h.Open(h.showReminders))
	mux.Handle("POST /reminders/{signed}", h.Open(h.editReminders))
	mux.Handle("GET /review/{token}", h.open(h.showPage))
	mux.Handle("GET /review/{token}/calendar", h.open(h.showCalendar))
	mux.Handle("GET /review/{token}/cards/{signed}", h.open(h.showCardPicture))
	mux.Handle("POST /review/{token}/zone", h.confirmed(false, h.editZone))
	mux.Handle("POST /review/{token}/decisions", h.confirmed(false, h.createDecision))
	mux.Handle("POST /review/{token}/approvals", h.confirmed(false, h.createApprovals))
	mux.Handle("POST /review/{token}/comments", h.withFiles(h.createComment))
	mux.Handle("POST /review/{token}/suggestions", h.confirmed(false, h.createSuggestion))
	mux.Handle("POST /review/{token}/holds", h.confirmed(false, h.createHold))
	mux.Handle("POST /review/{token}/releases", h.confirmed(false, h.createRelease))
	mux.Handle("POST /review/{token}/links", h.confirmed(true, h.createLink))
}
