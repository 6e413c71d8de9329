package review

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/handlers/web"
	"herald/views/approvals"
	"herald/views/preview"
)

const cardPurpose = "picture of a link on a review page"

// links are the cards of what the posts link to, as far as the agency has read them.
func (h *handler) links(r *http.Request, rs *db.ReviewScope, items []db.ReviewItem) (approvals.Links, error) {
	var addresses []string
	for _, i := range items {
		addresses = append(addresses, approvals.Linked(i.Previews)...)
	}
	known, err := rs.LinkCards(r.Context(), addresses)
	links, of := approvals.Links{}, owner(rs)
	expires := h.Now().Add(2 * h.URLLife).Truncate(h.URLLife)
	for address, c := range known {
		if !c.Read {
			continue
		}
		card := &preview.Card{Title: c.Title, Words: c.Words, Say: c.Say}
		if c.Shown {
			card.Picture = path(r) + "/cards/" + h.Ring.Sign(cardPurpose, []byte(of+c.Hash), expires)
		}
		links[address] = card
	}
	return links, err
}

// owner begins what is signed of a workspace's picture.
func owner(rs *db.ReviewScope) string { return fmt.Sprintf("%d ", rs.Workspace()) }

// showCardPicture answers GET /review/{token}/cards/{signed}: only a picture that a page
// of Herald's showed is found, and only while that is recent.
func (h *handler) showCardPicture(w http.ResponseWriter, r *http.Request, rs *db.ReviewScope, gone error) error {
	if gone != nil {
		return h.showGone(w, r, rs, gone)
	}
	signed, err := h.Ring.Verify(cardPurpose, r.PathValue("signed"), h.Now())
	hash, ours := strings.CutPrefix(string(signed), owner(rs))
	if err != nil || !ours {
		return model.Refuse(model.NotFound, "There is no such picture.")
	}
	picture, err := rs.LinkCardPicture(r.Context(), hash)
	if err != nil {
		return err
	}
	web.Picture(w, picture, time.Hour)
	return nil
}
