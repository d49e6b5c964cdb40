// The C interface of the Python package: a request and an answer are JSON texts, arrays are addresses. So one
// library serves every version of Python, and the package needs no compiler where it is installed.
//
// An answer is {"error": {"kind", "code", "text"}} (request.h: Failure), or what the function states. It is
// freed by palladion_free. Functions may be called from several threads at once; a job by one at a time.
#pragma once

extern "C" {
#pragma GCC visibility push(default)

// {"arch", "ptx", "path"} or {"arch", "bundle": a folder}; "sources": folders whose lines are shown.
// Answer: {"name", "entries": [{"name", "params": [{"name", "type", "bytes", "pointer"}], "block",
// "cluster"}]}. *program is null after an error, else closed by palladion_close_program.
char* palladion_open_program(const char* request, void** program);

// A launch with its arrays, which are copied (job.h). Of a bundle: the recorded one, without a request.
// Answer: {}. *job is null after an error, else closed by palladion_close_job, before the program.
char* palladion_open_job(void* program, const char* request, const void* const* arrays, void** job);

// Runs or checks the job (perform.h). `outputs`: where the result of each array of the launch goes; null, or
// null for one: nowhere. Answer: {"report": as --json has it, "texts": of the findings, "page": HTML}.
char* palladion_perform(void* job, const char* request, void* const* outputs, const void* const* wanted);

// Ends what palladion_perform does now, in any thread, soon; 0: later ones run again.
void palladion_stop(int stop);

void palladion_close_job(void* job);
void palladion_close_program(void* program);
void palladion_free(char* answer);

#pragma GCC visibility pop
}
