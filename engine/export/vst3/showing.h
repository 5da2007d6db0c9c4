/* What hosts are shown: parameters with their names and words, and what may be said of single notes. Part of plugin.c. */

/* --- parameters: those of the instrument, then the controllers of every channel, all of them from 0 to 1 ------------------ */

static int control_of(int place) { return controls[(place - ALL) % HEARD]; }

static int channel_of(int place) { return (place - ALL) / HEARD; }

static uint32_t number(int n)
{
    return n < ALL ? id_of(n) : (uint32_t)(FIRST_CONTROL + channel_of(n) * A_CHANNEL + control_of(n));
}

static int place_of(uint32_t id)
{
    if (id < FIRST_CONTROL) return place(id);
    uint32_t channel = (id - FIRST_CONTROL) / A_CHANNEL, control = (id - FIRST_CONTROL) % A_CHANNEL;
    for (int n = 0; n < (int)HEARD && channel < CHANNELS; n++)
        if (controls[n] == control) return ALL + (int)channel * (int)HEARD + n;
    return -1;
}

static double plain(int n, double part)
{
    double value = dials[n].low + fmin(fmax(part, 0.0), 1.0) * (dials[n].high - dials[n].low);
    return n < PROGRAM ? value : floor(value + 0.5);
}

static double part_of(int n, double value) { return (value - dials[n].low) / (dials[n].high - dials[n].low); }

static double at_rest(int n)
{
    if (n < ALL) return part_of(n, dials[n].own);
    int control = control_of(n);
    return control == WHEEL ? 8192.0 / 16383.0 : control == 7 ? 100.0 / 127.0 : control == 10 ? 64.0 / 127.0 : control == 11;
}

static int32_t parameter_count(void *self) { return (void)self, PLACES; }

static result parameter_get(void *self, int32_t n, struct parameter *found)
{
    char name[64];
    (void)self;
    if (n < 0 || n >= (int32_t)PLACES) return BAD_ARGUMENT;
    memset(found, 0, sizeof *found);
    found->id = number(n), found->first = at_rest(n);
    if (n < ALL) {
        wide(found->title, 128, dials[n].name), wide(found->brief, 128, dials[n].name);
        found->steps = n < PROGRAM ? 0 : (int32_t)(dials[n].high - dials[n].low);
        found->flags = AUTOMATED | (n < PROGRAM ? 0 : LIST);
        return DONE;
    }
    int control = control_of(n);
    const char *means = control == WHEEL ? " (wheel)" : control == PRESSURE ? " (pressure)" : "";
    snprintf(name, sizeof name, "MIDI CC %d%s, channel %d", control, means, channel_of(n) + 1);
    wide(found->title, 128, name), wide(found->brief, 128, name);
    found->flags = HIDDEN;
    return DONE;
}

static result parameter_to_text(void *self, uint32_t id, double part, uint16_t *text)
{
    char said[256];
    int n = place_of(id);
    (void)self;
    if (n < 0 || part != part) return BAD_ARGUMENT;
    if (n >= ALL) snprintf(said, sizeof said, "%d", control_of(n) == WHEEL ? (int)(part * 16383.0 + 0.5) - 8192 : share(part));
    else if (!to_text(n, plain(n, part), said, sizeof said)) return BAD_ARGUMENT;
    return wide(text, 128, said), DONE;
}

static result parameter_from_text(void *self, uint32_t id, uint16_t *text, double *part)
{
    char said[512], *end;
    int n = place_of(id);
    double value;
    (void)self;
    narrow(said, sizeof said, text);
    if (n < 0) return BAD_ARGUMENT;
    if (n < ALL) return from_text(n, said, &value) ? (*part = part_of(n, value), DONE) : REFUSED;
    value = strtod(said, &end);
    value = control_of(n) == WHEEL ? (value + 8192.0) / 16383.0 : value / 127.0;
    return end == said || !(value >= 0.0 && value <= 1.0) ? REFUSED : (*part = value, DONE);
}

static double parameter_plain(void *self, uint32_t id, double part)
{
    int n = place_of(id);
    return (void)self, n >= 0 && n < ALL ? plain(n, part) : part;
}

static double parameter_part(void *self, uint32_t id, double value)
{
    int n = place_of(id);
    return (void)self, n >= 0 && n < ALL ? part_of(n, value) : value;
}

static double parameter_value(void *self, uint32_t id)
{
    int n = place_of(id);
    return n < 0 ? 0.0 : atomic_load(&controller_own(self)->shown[n]);
}

static result parameter_show(void *self, uint32_t id, double part)
{
    int n = place_of(id);
    if (n < 0 || !(part >= 0.0 && part <= 1.0)) return BAD_ARGUMENT;
    /* Some repeat in 32 bits what they were told: nobody has moved that. */
    if ((float)part == (float)atomic_load(&controller_own(self)->shown[n])) return DONE;
    atomic_store(&controller_own(self)->shown[n], part);
    if (n < ALL) atomic_store(&controller_own(self)->newer[n], true);
    return DONE;
}

static result mapped(void *self, int32_t bus, int16_t channel, int16_t control, uint32_t *id)
{
    (void)self;
    if (bus || channel < 0 || channel >= CHANNELS || control < 0 || control >= A_CHANNEL) return REFUSED;
    *id = (uint32_t)(FIRST_CONTROL + channel * A_CHANNEL + control);
    return place_of(*id) < 0 ? REFUSED : DONE;
}

/* --- expressions of single notes -------------------------------------------------------------------------------------- */

static const struct { uint32_t kind; const char *name, *unit; double first; int32_t flags; } offered[] = {
    {TO_VOLUME, "Volume", "dB", 0.25, 0}, {TO_PAN, "Pan", "", 0.5, BIPOLAR},
    {TO_TUNING, "Tuning", "semitones", 0.5, BIPOLAR}, {TO_BRIGHTNESS, "Brightness", "", 0.5, 0},
};

static int32_t wish_count(void *self, int32_t bus, int16_t channel)
{
    return (void)self, (void)channel, bus || FIRST_PROGRAM < 0 ? 0 : (int32_t)(sizeof offered / sizeof *offered);
}

static result wish_get(void *self, int32_t bus, int16_t channel, int32_t n, struct wished *found)
{
    if (n < 0 || n >= wish_count(self, bus, channel)) return BAD_ARGUMENT;
    *found = (struct wished){.kind = offered[n].kind, .group = -1, .range = {offered[n].first, 0.0, 1.0, 0}};
    found->flags = offered[n].flags, found->parameter = UINT32_MAX;
    wide(found->title, 128, offered[n].name), wide(found->brief, 128, offered[n].name), wide(found->unit, 128, offered[n].unit);
    return DONE;
}

static result wish_to_text(void *self, int32_t bus, int16_t channel, uint32_t kind, double part, uint16_t *text)
{
    char said[64];
    (void)self, (void)bus, (void)channel;
    if (kind == TO_TUNING) snprintf(said, sizeof said, "%.2f", 240.0 * (part - 0.5));
    else if (kind == TO_VOLUME && part > 0.0) snprintf(said, sizeof said, "%.1f", 20.0 * log10(4.0 * part));
    else snprintf(said, sizeof said, "%.0f %%", 100.0 * part);
    return wide(text, 128, said), DONE;
}

static result wish_from_text(void *self, int32_t bus, int16_t channel, uint32_t kind, const uint16_t *text, double *part)
{
    char said[512], *end;
    (void)self, (void)bus, (void)channel;
    narrow(said, sizeof said, text);
    double value = strtod(said, &end);
    *part = kind == TO_TUNING ? 0.5 + value / 240.0 : kind == TO_VOLUME ? pow(10.0, value / 20.0) / 4.0 : value / 100.0;
    return end == said || !(*part >= 0.0 && *part <= 1.0) ? REFUSED : DONE;
}
