#pragma once

// Where a process notes what it does: a file of chunks, each mapped into memory and written by one
// thread. What is written is the system's, so it outlives the process, however that ends.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "record/format.h"

namespace baton::recorder {

// A part of an event.
struct EventPart {
  const void* bytes = nullptr;
  std::uint32_t size = 0;
};

// Where the record is: the environment's BATON_RECORD; empty: nothing is recorded.
const std::string& record_folder();

// The next place in the order of the process's events.
std::uint64_t next_order();

// Writes an event of these parts, and returns where its header lies, to fill in the result; null
// where recording stopped. The place stays valid until the thread writes its next event. `text`
// comes last.
record::EventHeader* note(record::EventKind kind, std::uint32_t function, std::uint64_t order,
                          std::int32_t result, std::initializer_list<EventPart> parts,
                          std::string_view text = {});

// Text of a kRemark.
void remark(std::string_view text);

// What the header says of the driver.
void name_driver(std::string_view library, int version);

// Saves an image under its digest, unless it is there. Returns the note of it.
record::ImageNote save_image(std::string_view bytes, std::uint64_t module);

// The file of events of this process, which is made if it is not there; empty where recording
// stopped.
std::string event_file();

// A file is opened, with the names of functions, when the first event is written.
void set_names(void (*write_names)());

}  // namespace baton::recorder
