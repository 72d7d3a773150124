#pragma once

// Makes a system call of a process fail: loaded before the C library (LD_PRELOAD), it counts the calls of one kind on
// one connection or file and fails the k-th. The process is not changed otherwise, and does not know.
//
// It is told what to do by the environment:
//
//   CALL_FAULT_CALL    read, write or sync; or thread: the system has no thread (EAGAIN), whatever port and file say
//   CALL_FAULT_PORT    the peer's TCP port; or
//   CALL_FAULT_FILE    a part of the file's path
//   CALL_FAULT_KTH     which call fails, counted from 1 over all threads; without it none does
//   CALL_FAULT_TIMES   how many in a row fail, by default one
//   CALL_FAULT_ONCE    if set, a process that finds the report at its start is left alone
//   CALL_FAULT_WHILE   calls are counted only while there is such a file
//   CALL_FAULT_AS      reset: the connection is lost, nothing was read or written
//                      cut:   the connection is lost when half of what was to be written has been written
//                      end:   the peer has closed
//                      short: half of it is read or written, and all is well
//                      again: the call would block (of a write)
//                      full:  no space is left on the device
//                      broken: the device fails
//   CALL_FAULT_REPORT  a file that gets a line when a call has failed
//
// A read counts only if there was something to read: how often an idle process looks is up to chance.

// The number of calls that have been counted; for a debugger.
unsigned long call_faults_counted(void);
