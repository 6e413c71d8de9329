package review

import (
	"net/http"
	"net/url"

	"herald/db"
	"herald/handlers/web"
	"herald/views/review"
)

// showReminders answers GET /reminders/{signed}: it asks, and changes nothing.
func (h *handler) showReminders(w http.ResponseWriter, r *http.Request) error {
	web.LinkHeaders(w, h.BaseURL)
	rm, err := h.Store.Reminders(r.Context(), r.PathValue("signed"))
	if err == nil {
		err = h.here(r, rm)
	}
	if err != nil {
		return err
	}
	return h.drawReminders(w, r, rm)
}

// here refuses what was opened under a name that is not its agency's.
func (h *handler) here(r *http.Request, rm *db.ReminderScope) error {
	if at, held := h.Hosts.At(r); held && !rm.At(at) {
		return errElsewhere
	}
	return nil
}

func (h *handler) drawReminders(w http.ResponseWriter, r *http.Request, rm *db.ReminderScope) error {
	return web.Render(w, r, http.StatusOK, review.Reminders(review.RemindersProps{Agency: rm.Agency, Look: h.look(rm.Workspace(), rm.Look), Path: "/reminders/" + url.PathEscape(r.PathValue("signed")), Stopped: rm.Stopped}))
}

// editReminders answers POST /reminders/{signed}, of the page and of a mail program that
// does it for its reader (RFC 8058), which sends no more than "List-Unsubscribe=One-Click".
func (h *handler) editReminders(w http.ResponseWriter, r *http.Request) error {
	web.LinkHeaders(w, h.BaseURL)
	rm, err := h.Store.Reminders(r.Context(), r.PathValue("signed"))
	if err == nil {
		err = h.here(r, rm)
	}
	if err != nil {
		return err
	}
	if r.PostFormValue("do") == "resume" {
		err = rm.Resume(r.Context())
	} else {
		err = rm.Stop(r.Context())
	}
	if err != nil {
		return err
	}
	return h.drawReminders(w, r, rm)
}
