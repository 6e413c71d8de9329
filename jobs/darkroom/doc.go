// Package darkroom opens files that strangers uploaded where they can do no harm:
// in a child process with its own limits of memory, processor time, file size and
// open files, which ends with its one file. A decoder that runs wild, or into a
// crafted file's trap, costs that file and nothing else.
//
// Pictures are opened by this very program, started again (Serve); videos by
// ffprobe and ffmpeg, and HEIC photos by heif-convert, started through it so that
// they have the same limits. All get the file as an open descriptor and a folder to
// write to, and no address of anything. A Herald without ffmpeg takes MP4 videos as
// they are, less their metadata, and says so.
//
// What a file is refused for comes back as a *model.Refusal. ErrDied means that
// the child ended without an answer: at its limits, or with the machine's memory;
// ErrFull that there was no room to write, which no file is to blame for.
// Start with Room.
package darkroom
