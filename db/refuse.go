package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"herald/db/model"
)

// wrap names the package door an error left through. Refusals pass unchanged:
// their sentence is for the person.
func wrap(err *error, format string, args ...any) {
	if *err == nil {
		return
	}
	if _, no := model.Refused(*err); no {
		return
	}
	if away(*err) && !errors.Is(*err, ErrAway) {
		*err = fmt.Errorf("%w: %w", ErrAway, *err)
	}
	*err = fmt.Errorf(format+": %w", append(args, *err)...)
}

// ErrAway says that a database could not be asked, or did not finish answering.
// Nothing was refused: the same may be asked again.
var ErrAway = errors.New("the database is away")

// away sorts out errors of the connection, and those with which Postgres stops,
// starts, or is short of something.
func away(err error) bool {
	var connect *pgconn.ConnectError
	var pg *pgconn.PgError
	var wire net.Error
	switch {
	case errors.As(err, &connect):
		return true
	case errors.As(err, &pg):
		return len(pg.Code) == 5 && pg.Code != "57014" && slices.Contains([]string{"08", "53", "57", "58"}, pg.Code[:2])
	case errors.Is(err, context.Canceled):
		return false
	}
	return errors.As(err, &wire) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}

// sentences turns the name of a broken constraint into what the person is told.
var sentences = map[string]model.Refusal{
	"targets_one_per_slot":           {Kind: model.Conflict, Say: "Somebody took that slot at the same moment. Press again for the next one.", Field: "when"},
	"targets_one_active_per_account": {Kind: model.Conflict, Say: "This post already has an open target on that account."},
	"target_changes_legal":           {Kind: model.Conflict, Say: "That is not possible from where this target stands now. Reload the page to see its state."},
	"posts_current_version":          {Kind: model.NotFound, Say: "There is no such post."},
	"version_media_media":            {Kind: model.NotFound, Say: "One of the files is not there any more."},
	"targets_account_of_client":      {Kind: model.NotFound, Say: "There is no such account."},
	"decisions_user_once":            {Kind: model.Conflict, Say: "You have already decided on this."},
	"decisions_approver_once":        {Kind: model.Conflict, Say: "You have already decided on this."},
	"approval_requests_one_open":     {Kind: model.Conflict, Say: "This post is already waiting for approval."},
	"media_once_per_client":          {Kind: model.Conflict, Say: "This file is already in the client's library."},
	"media_folders_name_once":        {Kind: model.Unprocessable, Say: "There is a folder of that name here already.", Field: "name"},
	"labels_name_once":               {Kind: model.Unprocessable, Say: "There is one of that name already. Choose another name.", Field: "name"},
	"labels_name_bounded":            {Kind: model.Unprocessable, Say: "Give it a name of at most 60 characters.", Field: "name"},
	"labels_tint_known":              {Kind: model.Unprocessable, Say: "Choose one of the colours.", Field: "tint"},
	"wordings_name_once":             {Kind: model.Unprocessable, Say: "There is one of that name already. Choose another name.", Field: "name"},
	"wordings_name_bounded":          {Kind: model.Unprocessable, Say: "Give it a name of at most 60 characters.", Field: "name"},
	"wordings_kind_known":            {Kind: model.Unprocessable, Say: "Choose hashtags, a snippet or a template.", Field: "kind"},
	"wordings_content_bounded":       {Kind: model.Unprocessable, Say: "That is more than is kept. Shorten it.", Field: "text"},
	"link_tags_bounded":              {Kind: model.Unprocessable, Say: "Keep each tag under 200 characters.", Field: "source"},
	"link_tags_hosts_bounded":        {Kind: model.Unprocessable, Say: "Keep to 100 websites.", Field: "hosts"},
	"labels_kind_known":              {Kind: model.Unprocessable, Say: "Choose a label or a campaign.", Field: "kind"},
	"clients_apart_bounded":          {Kind: model.Unprocessable, Say: "Give minutes from 0 to 1440, which is a day.", Field: "apart"},
	"day_notes_words_bounded":        {Kind: model.Unprocessable, Say: "Write a note of at most 300 characters.", Field: "words"},
	"post_labels_one_campaign":       {Kind: model.Unprocessable, Say: "A post belongs to at most one campaign. Choose one.", Field: "campaign"},
	"workspaces_slug_once":           {Kind: model.Conflict, Say: "There is already a workspace with that short name."},
}

// refused turns a constraint that a statement broke into its sentence, and
// leaves every other error as it is.
func refused(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	if no, ok := sentences[pg.ConstraintName]; ok {
		return &no
	}
	return err
}

// Unstorable says whether Postgres refused a statement for a text that it cannot
// hold: a null character, bytes that are no UTF-8.
func Unstorable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "22021" || pg.Code == "22P05")
}

func isUnique(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "23505" || pg.Code == "42P06")
}

func noRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// BadRow says whether Postgres refused a statement for what it holds, as against
// not answering, being short of something, or undoing it for another's sake (a
// deadlock): then the same may be asked again. Of a group that fails for what it
// holds, the other rows may be fine.
func BadRow(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || len(pg.Code) < 2 {
		return false
	}
	switch pg.Code[:2] {
	case "08", "40", "53", "55", "57", "58":
		return false
	}
	return true
}
