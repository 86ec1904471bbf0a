#include "api/side.h"

/* Open WebUI, backend/open_webui/config.py, 0.3 to 0.6: how the templates
 * for title, tags and follow-ups begin. */
#define TASK_HEAD "### Task:"
static const char *const tasks[] = {
    "Generate a concise",
    "Generate 1-3 broad tags",
    "Suggest 3-5 relevant follow-up questions",
};

/* opencode, agent/prompt/title.txt. */
#define TITLE_AGENT                                                            \
    "You are a title generator. You output ONLY a thread title."

static const char *const task_names[] = {
    "title_generation",
    "tags_generation",
    "follow_up_generation",
};

static struct text trim(struct text t)
{
    while (t.n && strchr(" \t\r\n", *t.s)) {
        t.s++;
        t.n--;
    }
    return t;
}

/* Cuts `head` off the front of *t. */
static bool skip(struct text *t, const char *head)
{
    size_t n = strlen(head);

    if (t->n < n || memcmp(t->s, head, n) != 0)
        return false;
    t->s += n;
    t->n -= n;
    return true;
}

static bool is_named(struct text task)
{
    for (size_t i = 0; i < sizeof(task_names) / sizeof(task_names[0]); i++)
        if (task.n == strlen(task_names[i]) &&
            memcmp(task.s, task_names[i], task.n) == 0)
            return true;
    return false;
}

/* Its only turn, system messages aside, is a task of a chat page. */
static bool is_page_task(const struct chat_req *c)
{
    const struct chat_msg *turn = NULL;
    struct text t;

    for (size_t i = 0; i < c->n_messages; i++) {
        if (c->messages[i].role == ROLE_SYSTEM)
            continue;
        if (turn || c->messages[i].role != ROLE_USER)
            return false;
        turn = &c->messages[i];
    }
    if (!turn)
        return false;
    t = trim(turn->content);
    if (!skip(&t, TASK_HEAD))
        return false;
    t = trim(t);
    for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
        if (skip(&t, tasks[i]))
            return true;
    return false;
}

static bool is_title_agent(const struct body *b)
{
    const struct chat_req *c = &b->chat;
    struct text t;

    if (!c->n_messages || c->messages[0].role != ROLE_SYSTEM || b->n_offered)
        return false;
    t = trim(c->messages[0].content);
    return skip(&t, TITLE_AGENT);
}

bool side_task(const struct body *b)
{
    return is_named(b->task) || is_page_task(&b->chat) || is_title_agent(b);
}

bool side_is(const struct body *b, bool thinking, size_t prompt_tok,
             int32_t max_tokens)
{
    if (b->n > 1 || b->n_prompts > 1 || thinking ||
        prompt_tok > SIDE_PROMPT_MAX)
        return false;
    return max_tokens <= SIDE_TOKENS_MAX || side_task(b);
}
