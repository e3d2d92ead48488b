import type { JsonSchema } from '../../../src/api/document/finish-document.ts';

/** A difference between two schemas by which a receiver that was written to the former can fail. */
export interface Break {
  /** Where: the event type, and the field with dots, such as `filing.rejected data.status`. */
  readonly place: string;
  readonly change:
    | 'type_removed'
    | 'field_removed'
    | 'may_be_missing'
    | 'other_type'
    | 'new_value'
    | 'other_form'
    | 'wider_bound';
  /** What changed and which receivers it breaks, in one sentence. */
  readonly detail: string;
}

/** The schemas of all events by their types. */
export type EventSchemas = Readonly<Record<string, JsonSchema>>;

/**
 * The breaks between released schemas and those of now, in their order; pure. What is added or narrowed breaks
 * no receiver. A list of values that is declared open has no `enum` in these schemas.
 */
export function schemaBreaks(released: EventSchemas, present: EventSchemas): Break[] {
  return Object.entries(released).flatMap(([type, before]): Break[] => {
    const { [type]: now } = present;
    return now === undefined
      ? [
          {
            place: type,
            change: 'type_removed',
            detail: `the event type is gone: subscriptions to ${type} get nothing more`,
          },
        ]
      : breaksWithin(before, now, type, '');
  });
}

function breaksWithin(before: JsonSchema, now: JsonSchema, type: string, path: string): Break[] {
  const add = (change: Break['change'], detail: string): Break => ({
    place: path === '' ? type : `${type} ${path}`,
    change,
    detail,
  });
  return [
    ...typeBreaks(before, now, add),
    ...valueBreaks(before, now, add),
    ...formBreaks(before, now, add),
    ...boundBreaks(before, now, add),
    ...fieldBreaks(before, now, type, path),
    ...(before.items !== undefined ? breaksWithin(before.items, now.items ?? {}, type, `${path}[]`) : []),
  ];
}

type Add = (change: Break['change'], detail: string) => Break;

function typeBreaks(before: JsonSchema, now: JsonSchema, add: Add): Break[] {
  const [was, is] = [typesOf(before), typesOf(now)];
  if (was === null) return [];
  if (is === null)
    return [add('other_type', `it may be anything: a receiver that expects ${was.join(' or ')} fails`)];
  const added = is.filter((one) => !was.includes(one) && !(one === 'integer' && was.includes('number')));
  return added.map((one) =>
    add('other_type', `it may be ${one}: a receiver that expects ${was.join(' or ')} fails`),
  );
}

function typesOf({ type, const: only, enum: values }: JsonSchema): readonly string[] | null {
  if (type !== undefined) return typeof type === 'string' ? [type] : type;
  const known = values ?? (only === undefined ? null : [only]);
  return known === null ? null : [...new Set(known.map((value) => (value === null ? 'null' : typeof value)))];
}

function valueBreaks(before: JsonSchema, now: JsonSchema, add: Add): Break[] {
  const [was, is] = [valuesOf(before), valuesOf(now)];
  if (was === null) return [];
  if (is === null)
    return [add('new_value', `it may have any value: a receiver that knows only ${was.join(', ')} fails`)];
  const added = is.filter((value) => !was.includes(value));
  return added.map((value) =>
    add('new_value', `it may be ${value}: a receiver that knows only ${was.join(', ')} fails`),
  );
}

function valuesOf({ const: only, enum: values }: JsonSchema): readonly string[] | null {
  const known = values ?? (only === undefined ? null : [only]);
  return known === null ? null : known.map((value) => JSON.stringify(value));
}

function formBreaks(before: JsonSchema, now: JsonSchema, add: Add): Break[] {
  return ['format', 'pattern', 'contentEncoding'].flatMap((keyword) => {
    const [was, is] = [before[keyword], now[keyword]];
    if (was === undefined || was === is) return [];
    const other = is === undefined ? 'none' : JSON.stringify(is);
    return [
      add(
        'other_form',
        `its ${keyword} was ${JSON.stringify(was)} and is ${other}: a receiver that parses it fails`,
      ),
    ];
  });
}

const lowest = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const highest = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];

function boundBreaks(before: JsonSchema, now: JsonSchema, add: Add): Break[] {
  return [...lowest, ...highest].flatMap((keyword) => {
    const [was, is] = [before[keyword], now[keyword]] as (number | undefined)[];
    if (was === undefined) return [];
    const isWider = is === undefined || (lowest.includes(keyword) ? is < was : is > was);
    return isWider
      ? [
          add(
            'wider_bound',
            `its ${keyword} was ${was} and is ${is ?? 'none'}: a receiver that made room for it fails`,
          ),
        ]
      : [];
  });
}

function fieldBreaks(before: JsonSchema, now: JsonSchema, type: string, path: string): Break[] {
  return Object.entries(before.properties ?? {}).flatMap(([name, field]): Break[] => {
    const at = path === '' ? name : `${path}.${name}`;
    const place = `${type} ${at}`;
    const { [name]: found } = now.properties ?? {};
    if (found === undefined)
      return [{ place, change: 'field_removed', detail: 'it is gone: a receiver that reads it fails' }];
    const mayBeMissing = before.required?.includes(name) === true && now.required?.includes(name) !== true;
    return [
      ...(mayBeMissing
        ? [
            {
              place,
              change: 'may_be_missing' as const,
              detail: 'it was always there and may be missing: a receiver that reads it unasked fails',
            },
          ]
        : []),
      ...breaksWithin(field, found, type, at),
    ];
  });
}
