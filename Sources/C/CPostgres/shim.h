#pragma once
#include <libpq-fe.h>

// The codes of a result's error fields are macros of character literals, which Swift does not import as the int that
// the function takes.
static inline const char *apus_pq_sqlstate(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

// The same for the message without its detail: the detail quotes values, a token among them.
static inline const char *apus_pq_primary_message(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}
