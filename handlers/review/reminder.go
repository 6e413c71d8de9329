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
	if err != nil {
		return err
	}
	return drawReminders(w, r, rm)
}

func drawReminders(w http.ResponseWriter, r *http.Request, rm *db.ReminderScope) error {
	return web.Render(w, r, http.StatusOK, review.Reminders(review.RemindersProps{Agency: rm.Agency, Path: "/reminders/" + url.PathEscape(r.PathValue("signed")), Stopped: rm.Stopped}))
}

// editReminders answers POST /reminders/{signed}, of the page and of a mail program that
// does it for its reader (RFC 8058), which sends no more than "List-Unsubscribe=One-Click".
func (h *handler) editReminders(w http.ResponseWriter, r *http.Request) error {
	web.LinkHeaders(w, h.BaseURL)
	rm, err := h.Store.Reminders(r.Context(), r.PathValue("signed"))
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
	return drawReminders(w, r, rm)
}
