package desk

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"time"

	tusd "github.com/tus/tusd/v2/pkg/handler"

	"herald/db"
	"herald/db/blob"
	"herald/db/model"
	"herald/db/network"
	"herald/db/picture"
	"herald/handlers/web"
)

// intake is the tus library's store for one request of one person: Postgres says
// how far an upload is, the media store has the bytes, and the scope says whose it
// is.
type intake struct {
	d      *Desk
	scope  *db.Scope
	w      http.ResponseWriter
	holder string
}

// no turns an error into what the library answers: our sentence and its status.
func (in *intake) no(ctx context.Context, err error) error {
	if err == nil || errors.As(err, new(tusd.Error)) {
		return err
	}
	status, say := in.d.Words(ctx, err)
	return tusd.Error{ErrorCode: "ERR_HERALD", Message: say, HTTPResponse: tusd.HTTPResponse{
		StatusCode: status, Body: say, Header: tusd.HTTPHeader{"Content-Type": "text/plain; charset=utf-8"},
	}}
}

// NewUpload refuses what can be seen to be too much before a byte has come.
func (in *intake) NewUpload(ctx context.Context, info tusd.FileInfo) (tusd.Upload, error) {
	name := fileLabel(info.MetaData["filename"])
	client := model.ClientID(web.ID(info.MetaData["client"]))
	if info.Size == 0 {
		_, err := picture.Recognize(name, nil)
		return nil, in.no(ctx, err)
	}
	if limit := in.d.uploadBytes(); info.Size > limit {
		return nil, in.no(ctx, tooLarge(info.Size, limit))
	}
	if err := in.d.uploadTurn(ctx, in.scope); err != nil {
		return nil, in.no(ctx, err)
	}
	u, err := in.scope.StartUpload(ctx, client, name, info.Size)
	return &arriving{in, u}, in.no(ctx, err)
}

// GetUpload finds an upload. One that is whole and was left before it became an
// asset becomes one now.
func (in *intake) GetUpload(ctx context.Context, id string) (tusd.Upload, error) {
	u, err := in.scope.Upload(ctx, model.UploadID(web.ID(id)))
	if err == nil && u.Received == u.Size {
		err = in.finish(ctx, u)
	}
	return &arriving{in, u}, in.no(ctx, err)
}

// arriving is one upload, as the library sees it.
type arriving struct {
	*intake
	db.Upload
}

// GetInfo says how far the upload is.
func (u *arriving) GetInfo(context.Context) (tusd.FileInfo, error) {
	return tusd.FileInfo{ID: fmt.Sprint(int64(u.ID)), Size: u.Size, Offset: u.Received, MetaData: tusd.MetaData{"filename": u.Name}}, nil
}

// GetReader is part of the library's interface; nothing calls it while downloads
// are off.
func (u *arriving) GetReader(ctx context.Context) (io.ReadCloser, error) {
	return nil, u.no(ctx, model.Refuse(model.NotFound, "An upload cannot be read."))
}

// WriteChunk stores what src gives until it ends, piece by piece, and writes each
// piece down once it is safe, so that no more than one is lost whatever breaks.
func (u *arriving) WriteChunk(ctx context.Context, offset int64, src io.Reader) (written int64, err error) {
	defer func() { err = u.no(ctx, err) }()
	if offset != u.Received {
		return 0, tusd.ErrMismatchOffset
	}
	sum, err := resume(u.Hash)
	if err != nil {
		return 0, err
	}
	if u.Received == 0 {
		if src, err = u.begin(ctx, src); err != nil || src == nil {
			return 0, err
		}
	}
	for {
		n, err := u.piece(ctx, io.TeeReader(src, sum), sum)
		if err != nil || n == 0 {
			return written, err
		}
		written += n
	}
}

// begin looks at the first bytes, and refuses by rule before more of them come. It
// returns nil for src where there are too few yet to tell.
func (u *arriving) begin(ctx context.Context, src io.Reader) (io.Reader, error) {
	head := make([]byte, min(picture.HeadSize, u.Size))
	n, err := io.ReadFull(src, head)
	if err != nil {
		return nil, nil // how a body ended the library knows
	}
	t, err := picture.Recognize(u.Name, head[:n])
	if err == nil {
		err = u.d.limits().CheckBytes(t, u.Size)
	}
	if err != nil {
		return nil, errors.Join(err, u.drop(ctx))
	}
	u.Type, u.Draft = string(t), blob.Draft{Key: blob.Key(int64(u.scope.Actor.Tenant), u.d.Now(), t.Ext())}
	return io.MultiReader(bytes.NewReader(head), src), nil
}

// piece adds one piece. A place that lost the draft has lost the upload.
func (u *arriving) piece(ctx context.Context, src io.Reader, sum hash.Hash) (int64, error) {
	next, err := u.d.Blobs.Extend(ctx, u.Draft, src)
	if errors.Is(err, blob.ErrNotFound) {
		return 0, errors.Join(errBytesGone, u.drop(ctx))
	}
	n := next.Size - u.Draft.Size
	if err != nil || n == 0 {
		return 0, err
	}
	after := u.Upload
	after.Draft, after.Received = next, next.Size
	if after.Hash, err = sum.(encoding.BinaryMarshaler).MarshalBinary(); err != nil {
		return 0, err
	}
	if err := u.scope.ExtendUpload(ctx, u.holder, u.Received, after); err != nil {
		return 0, err
	}
	u.Upload = after
	return n, nil
}

var errBytesGone = model.Refuse(model.Gone, "What had arrived of this file is not there any more. Choose it again.")

// FinishUpload is called by the library once the last byte is safe.
func (u *arriving) FinishUpload(ctx context.Context) error { return u.no(ctx, u.finish(ctx, u.Upload)) }

// finish makes an asset of a whole upload, which the media queue then looks at.
// What it refuses it takes away.
func (in *intake) finish(ctx context.Context, u db.Upload) error {
	if u.MediaID != 0 {
		in.say(u.MediaID, !u.Kept)
		return nil
	}
	sum, err := resume(u.Hash)
	if err != nil {
		return err
	}
	if _, err := in.d.Blobs.Finish(ctx, u.Draft); errors.Is(err, blob.ErrNotFound) {
		return errors.Join(errBytesGone, in.dropped(ctx, u))
	} else if err != nil {
		return err
	}
	a, again, err := in.scope.FinishUpload(ctx, u.ID, db.Asset{State: db.MediaScanning, Kind: kindOf(picture.Type(u.Type)), Type: u.Type,
		OriginalPath: u.Draft.Key, Sha256: sum.Sum(nil), UploadedBytes: u.Size})
	if _, refused := model.Refused(err); refused {
		return errors.Join(err, in.dropped(ctx, u))
	}
	if err != nil {
		return err
	}
	in.say(a.ID, again)
	if again {
		in.d.forgetKeys(ctx, u.Draft.Key)
	}
	return nil
}

func (in *intake) say(media model.MediaID, again bool) {
	in.w.Header().Set(headerMedia, fmt.Sprint(int64(media)))
	if again {
		in.w.Header().Set(headerAgain, "1")
	}
}

// Terminate gives the upload up, for its sender.
func (u *arriving) Terminate(ctx context.Context) error { return u.no(ctx, u.drop(ctx)) }

// AsTerminatableUpload is the library's way to ask for Terminate.
func (in *intake) AsTerminatableUpload(u tusd.Upload) tusd.TerminatableUpload { return u.(*arriving) }

func (u *arriving) drop(ctx context.Context) error { return u.dropped(ctx, u.Upload) }

// dropped takes an upload away: the row first, so that nobody goes on with it.
func (in *intake) dropped(ctx context.Context, u db.Upload) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	draft, err := in.scope.DropUpload(ctx, u.ID)
	if err != nil || draft.Key == "" {
		return err
	}
	if err := in.d.Blobs.Abandon(ctx, draft); err != nil {
		in.d.Log.WarnContext(ctx, "unfinished upload left behind", "err", err)
	}
	in.d.forgetKeys(ctx, draft.Key)
	return nil
}

// resume goes on with a hash.
func resume(state []byte) (hash.Hash, error) {
	sum := sha256.New()
	if len(state) == 0 {
		return sum, nil
	}
	return sum, sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(state)
}

func kindOf(t picture.Type) network.MediaKind {
	switch {
	case t.Video():
		return network.Video
	case t == picture.PDF:
		return network.Document
	}
	return network.Image
}
