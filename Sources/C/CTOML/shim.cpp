// toml++ is a library of headers. With exceptions a syntax error ends the parsing at once; without them, version 3.3
// goes on for a few steps in a state that its own assertions refuse.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
// Version 3.3 asserts what input can break: the two bytes "[=" are enough. A broken assertion is therefore an error
// like any other, in every kind of build (with NDEBUG the compiler would be told to assume that it cannot break).
#undef NDEBUG
#define TOML_ASSERT(expression)                                                                                        \
    do {                                                                                                               \
        if (!(expression)) throw std::runtime_error("this is not TOML");                                               \
    } while (0)

// The library's own default is 256, which is more nesting than anybody writes by hand.
#define TOML_MAX_NESTED_VALUES 16

#include "CTOML.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>
#include <toml++/toml.h>
#include <vector>

namespace {

void keep_error(ctoml_error *error, std::string_view message, toml::source_position position) {
    size_t length = std::min(message.size(), sizeof error->message - 1);
    std::memcpy(error->message, message.data(), length);
    error->message[length] = 0;
    error->line = position.line;
    error->column = position.column;
}

class Walk {
  public:
    Walk(ctoml_visitor visitor, void *context) : visitor(visitor), context(context) {}

    void table(const toml::table &table) {
        // The library sorts by name; a reader expects the order of the file.
        std::vector<std::pair<const toml::key *, const toml::node *>> members;
        for (auto &&[key, node] : table) members.emplace_back(&key, &node);
        std::sort(members.begin(), members.end(), [](const auto &left, const auto &right) {
            const auto &first = left.first->source().begin;
            const auto &second = right.first->source().begin;
            return first.line != second.line ? first.line < second.line : first.column < second.column;
        });
        for (const auto &member : members) node(*member.second, member.first);
    }

  private:
    ctoml_visitor visitor;
    void *context;

    void node(const toml::node &node, const toml::key *key) {
        ctoml_node out = {};
        const auto position = key != nullptr ? key->source().begin : node.source().begin;
        out.line = position.line;
        out.column = position.column;
        if (key != nullptr) {
            out.key = key->str().data();
            out.key_length = key->str().size();
        }
        if (const auto *table = node.as_table()) {
            out.kind = CTOML_TABLE;
            visitor(context, &out);
            this->table(*table);
            end();
        } else if (const auto *array = node.as_array()) {
            out.kind = CTOML_ARRAY;
            visitor(context, &out);
            for (const auto &element : *array) this->node(element, nullptr);
            end();
        } else {
            value(node, out);
        }
    }

    void end() {
        ctoml_node out = {};
        out.kind = CTOML_END;
        visitor(context, &out);
    }

    void value(const toml::node &node, ctoml_node &out) {
        std::string text;
        if (const auto *string = node.as_string()) {
            out.kind = CTOML_STRING;
            out.text = string->get().data();
            out.text_length = string->get().size();
        } else if (const auto *integer = node.as_integer()) {
            out.kind = CTOML_INTEGER;
            out.integer = integer->get();
        } else if (const auto *number = node.as_floating_point()) {
            out.kind = CTOML_NUMBER;
            out.number = number->get();
        } else if (const auto *boolean = node.as_boolean()) {
            out.kind = CTOML_BOOLEAN;
            out.integer = boolean->get() ? 1 : 0;
        } else {
            std::ostringstream stream;
            node.visit([&stream](const auto &value) {
                if constexpr (toml::is_date<decltype(value)> || toml::is_time<decltype(value)>
                              || toml::is_date_time<decltype(value)>)
                    stream << value.get();
            });
            text = stream.str();
            out.kind = CTOML_DATE_TIME;
            out.text = text.data();
            out.text_length = text.size();
        }
        visitor(context, &out);
    }
};

} // namespace

int ctoml_parse(
    const char *text, size_t length, ctoml_visitor visitor, void *context, struct ctoml_error *error) {
    *error = {};
    // Nothing that is thrown may reach Swift, which cannot unwind.
    try {
        const auto table = toml::parse(std::string_view(text, length));
        Walk(visitor, context).table(table);
        return 1;
    } catch (const toml::parse_error &failure) {
        keep_error(error, failure.description(), failure.source().begin);
        return 0;
    } catch (const std::exception &failure) {
        keep_error(error, failure.what(), {});
        return 0;
    }
}
