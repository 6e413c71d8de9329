package desk

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"herald/db"
	"herald/db/model"
	"herald/handlers/opengraph"
	"herald/handlers/web"
	"herald/views/composer"
	"herald/views/preview"
)

// cardPatience is how long a page and its picture are waited for, both together.
const cardPatience = 10 * time.Second

// formCards is how many links of one post are read.
const formCards = 3

// readLinkCard answers POST /cards: it reads the page at an address, unless that is
// known, and has the previews drawn again. The page that asks does not wait for it.
func (d *Desk) readLinkCard(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	address := r.PostFormValue("card")
	if len(address) > 2048 {
		return errForm
	}
	begun, err := scope.BeginLinkCard(r.Context(), address)
	if err != nil {
		return err
	}
	if begun {
		card, picture := d.fetchCard(r.Context(), address)
		if err := scope.KeepLinkCard(context.WithoutCancel(r.Context()), address, card, picture); err != nil {
			return err
		}
	}
	return web.Render(w, r, http.StatusOK, composer.CardRead(d.paths(scope, 0)))
}

// fetchCard reads a page and copies its picture. Why nothing could be read is said on
// the card.
func (d *Desk) fetchCard(ctx context.Context, address string) (card db.LinkCard, picture []byte) {
	ctx, cancel := context.WithTimeout(ctx, cardPatience)
	defer cancel()
	body, err := d.fetchAt(ctx, address)
	if err != nil {
		card.Say = cardSay(err)
		return card, nil
	}
	page := opengraph.Read(body, address)
	_ = body.Close()
	card.Title, card.Words = page.Title, page.Words
	if page.Title == "" {
		card.Say = "The page says nothing of itself, so networks show its address alone."
	}
	if page.Picture != "" {
		if file, err := d.fetchAt(ctx, page.Picture); err == nil {
			picture = opengraph.Picture(file)
			_ = file.Close()
		}
	}
	return card, picture
}

func (d *Desk) fetchAt(ctx context.Context, address string) (io.ReadCloser, error) {
	if err := d.CheckAddress(address); err != nil {
		return nil, err
	}
	f, err := d.Fetch(ctx, address)
	return f.Body, err
}

// cardSay is why a page could not be read.
func cardSay(err error) string {
	switch no, ok := model.Refused(err); {
	case errors.Is(err, context.DeadlineExceeded):
		return "The page did not answer in time. Networks may still read it."
	case ok && no.Kind == model.Unprocessable:
		return "Herald could not read the page. Networks may still show a card for it."
	}
	return "Herald could not read the page just now."
}

// showLinkCardPicture answers GET /cards/{hash} with our copy of a picture.
func (d *Desk) showLinkCardPicture(w http.ResponseWriter, r *http.Request, scope *db.Scope) error {
	picture, err := scope.LinkCardPicture(r.Context(), r.PathValue("hash"))
	if err != nil {
		return err
	}
	web.Picture(w, picture, time.Hour)
	return nil
}

// linkCards are the cards of posts that show one, by address.
func (d *Desk) linkCards(ctx context.Context, scope *db.Scope, looks []preview.Props) (map[string]*preview.Card, error) {
	var addresses []string
	for _, p := range looks {
		if a := p.Reads(); a != "" && !slices.Contains(addresses, a) && len(addresses) < formCards {
			addresses = append(addresses, a)
		}
	}
	return d.cardsAt(ctx, scope, addresses, &preview.Card{Waits: true})
}

// cardsAt are the cards of addresses, with unread for what nobody has read yet.
func (d *Desk) cardsAt(ctx context.Context, scope *db.Scope, addresses []string, unread *preview.Card) (map[string]*preview.Card, error) {
	known, err := scope.LinkCards(ctx, addresses)
	cards := map[string]*preview.Card{}
	for _, a := range addresses {
		c, has := known[a]
		switch {
		case !has || !c.Read:
			cards[a] = unread
		case c.Shown:
			cards[a] = &preview.Card{Title: c.Title, Words: c.Words, Say: c.Say, Picture: at(scope, "/cards/"+c.Hash)}
		default:
			cards[a] = &preview.Card{Title: c.Title, Words: c.Words, Say: c.Say}
		}
	}
	return cards, err
}
