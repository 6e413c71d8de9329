package db

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"herald/db/model"
)

// LinkCard is what was read at an address that a post links to.
type LinkCard struct {
	Hash  string // hex; names the card's picture
	Title string
	Words string
	Say   string // why there is no card
	Shown bool   // there is a picture
	Read  bool   // false while nobody has read it yet
}

// How long a card is believed, and how often addresses are read.
const (
	cardLife    = 24 * time.Hour
	cardRetry   = 10 * time.Minute // after a failure
	cardReading = 30 * time.Second // while somebody reads it, nobody else does
	cardsMinute = 60               // in a workspace
)

func cardHash(address string) [32]byte { return sha256.Sum256([]byte(address)) }

const sqlLinkCards = `
	SELECT hash, title, words, say, picture IS NOT NULL, read_at IS NOT NULL FROM tenant.link_cards WHERE tenant_id = $1 AND hash = ANY ($2)`

// LinkCards returns the cards of addresses, by address. One that nobody asked for
// yet is missing.
func (sc *Scope) LinkCards(ctx context.Context, addresses []string) (cards map[string]LinkCard, err error) {
	defer wrap(&err, "read link cards")
	if len(addresses) == 0 {
		return nil, nil
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		cards, err = sc.linkCards(ctx, tx, addresses)
		return err
	})
	return cards, err
}

func (sc *Scope) linkCards(ctx context.Context, tx pgx.Tx, addresses []string) (map[string]LinkCard, error) {
	var hashes [][]byte
	of, cards := map[string]string{}, map[string]LinkCard{}
	for _, a := range addresses {
		h := cardHash(a)
		hashes, of[string(h[:])] = append(hashes, h[:]), a
	}
	rows, err := tx.Query(ctx, sqlLinkCards, sc.Actor.Tenant, hashes)
	if err != nil {
		return nil, err
	}
	var c LinkCard
	var hash []byte
	_, err = pgx.ForEachRow(rows, []any{&hash, &c.Title, &c.Words, &c.Say, &c.Shown, &c.Read}, func() error {
		c.Hash = hex.EncodeToString(hash)
		cards[of[string(hash)]] = c
		return nil
	})
	return cards, err
}

const sqlLinkCardsLately = `SELECT count(*) FROM tenant.link_cards WHERE tenant_id = $1 AND asked_at > $2`

const sqlLinkCardBegin = `
	INSERT INTO tenant.link_cards AS c (tenant_id, hash, asked_at, expires_at) VALUES ($1, $2, $3, $3)
	ON CONFLICT (tenant_id, hash) DO UPDATE SET asked_at = $3 WHERE c.expires_at <= $3 AND c.asked_at <= $4`

const sqlLinkCardsForget = `
	DELETE FROM tenant.link_cards WHERE tenant_id = $1 AND hash IN (SELECT hash FROM tenant.link_cards WHERE tenant_id = $1 AND asked_at < $2 ORDER BY asked_at LIMIT 20)`

// BeginLinkCard says whether the caller is to read an address now: nobody else does,
// and what is known of it is old. It refuses with TooMany where a workspace asks for
// very many. Cards that nobody asked for in a month go on the way.
func (sc *Scope) BeginLinkCard(ctx context.Context, address string) (begun bool, err error) {
	defer wrap(&err, "begin link card")
	now, hash := sc.now(), cardHash(address)
	err = sc.within(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
		var lately int
		if err := tx.QueryRow(ctx, sqlLinkCardsLately, sc.Actor.Tenant, now.Add(-time.Minute)).Scan(&lately); err != nil {
			return err
		}
		if lately >= cardsMinute {
			return model.Refuse(model.TooMany, "Many links were read in the last minute. Check again in a moment.")
		}
		tag, err := tx.Exec(ctx, sqlLinkCardBegin, sc.Actor.Tenant, hash[:], now, now.Add(-cardReading))
		if err != nil {
			return err
		}
		begun = tag.RowsAffected() == 1
		_, err = tx.Exec(ctx, sqlLinkCardsForget, sc.Actor.Tenant, now.AddDate(0, -1, 0))
		return err
	})
	return begun, err
}

const sqlLinkCardKeep = `
	UPDATE tenant.link_cards SET title = $3, words = $4, say = $5, picture = $6, read_at = $7, expires_at = $8 WHERE tenant_id = $1 AND hash = $2`

// KeepLinkCard keeps what was read at an address that BeginLinkCard handed out.
func (sc *Scope) KeepLinkCard(ctx context.Context, address string, card LinkCard, picture []byte) (err error) {
	defer wrap(&err, "keep link card")
	now, hash, life := sc.now(), cardHash(address), cardLife
	if card.Say != "" {
		life = cardRetry
	}
	return sc.within(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sqlLinkCardKeep, sc.Actor.Tenant, hash[:], card.Title, card.Words, card.Say, picture, now, now.Add(life))
		return err
	})
}

const sqlLinkCardPicture = `SELECT picture FROM tenant.link_cards WHERE tenant_id = $1 AND hash = $2 AND picture IS NOT NULL`

// LinkCardPicture returns a card's picture, a JPEG. It refuses a hash that there is
// not with NotFound.
func (sc *Scope) LinkCardPicture(ctx context.Context, hash string) (picture []byte, err error) {
	defer wrap(&err, "read link card picture")
	key, err := hex.DecodeString(hash)
	if err != nil || len(key) != sha256.Size {
		return nil, errNoCard
	}
	err = sc.read(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, sqlLinkCardPicture, sc.Actor.Tenant, key).Scan(&picture)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errNoCard
	}
	return picture, err
}

var errNoCard = model.Refuse(model.NotFound, "There is no such picture.")

// LinkCards returns the cards of addresses that a page of the link shows, by address.
func (rs *ReviewScope) LinkCards(ctx context.Context, addresses []string) (cards map[string]LinkCard, err error) {
	defer wrap(&err, "read link cards by link")
	if len(addresses) == 0 {
		return nil, nil
	}
	err = rs.read(ctx, func(tx pgx.Tx) error {
		cards, err = rs.sc.linkCards(ctx, tx, addresses)
		return err
	})
	return cards, err
}

// LinkCardPicture returns a card's picture, as Scope.LinkCardPicture does. Which card a
// reader may see is the caller's to know.
func (rs *ReviewScope) LinkCardPicture(ctx context.Context, hash string) ([]byte, error) {
	if rs.gone != nil {
		return nil, rs.gone
	}
	return rs.sc.LinkCardPicture(ctx, hash)
}
