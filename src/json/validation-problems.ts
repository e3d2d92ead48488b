/** One finding of a check by TypeBox, in the form of JSON Schema. */
export interface SchemaViolation {
  readonly keyword: string;
  /** The place of the value, as a JSON pointer (RFC 6901). */
  readonly instancePath: string;
  /** The place of the schema that the value does not fit, as such a pointer into the whole schema. */
  readonly schemaPath?: string;
  readonly params: object;
  readonly message?: string;
}

/**
 * One wrong value: the field's path with dots ("headers.X-Team", "eventTypes.0"; empty for the value itself)
 * and what is wrong.
 */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

// Number of wrong values after which no more are described: one more than a response lists.
const describedMax = 11;

/** The message about a field that must be there and is not. */
export const isMissing = 'is required';

/**
 * The wrong values that a check has found, each field once: later findings about a field are about the same
 * mistake or about the other branches of a union. `explain` may put a finding into other words; undefined
 * leaves it as it is. `at` is the place of the value; an unknown field's is that of its object, and `name`
 * its own.
 */
export function fieldErrors(
  violations: readonly SchemaViolation[],
  explain: (
    violation: SchemaViolation,
    at: readonly string[],
    name: string | undefined,
  ) => string | undefined = () => undefined,
): FieldError[] {
  const byPath = new Map<string, FieldError>();
  for (const violation of violations) {
    for (const error of describe(violation, explain)) {
      if (!byPath.has(error.path)) byPath.set(error.path, error);
    }
    if (byPath.size >= describedMax) break;
  }
  return [...byPath.values()];
}

function describe(
  violation: SchemaViolation,
  explain: NonNullable<Parameters<typeof fieldErrors>[1]>,
): FieldError[] {
  const at = violation.instancePath.split('/').slice(1).map(unescapePointer);
  const values: Readonly<Record<string, unknown>> = { ...violation.params };
  const explained = (name?: string) => explain(violation, at, name);
  const each = (names: unknown, message: string) =>
    texts(names).map((name) => ({ path: [...at, name].join('.'), message: explained(name) ?? message }));
  const one = (message: string) => [{ path: at.join('.'), message }];
  switch (violation.keyword) {
    case 'required':
      return each(values['requiredProperties'], isMissing);
    case 'additionalProperties':
      return each(values['additionalProperties'], 'is not known');
    case 'boolean':
      return []; // a field that may not be there; additionalProperties has named it
    case 'enum':
      return one(explained() ?? `must be one of ${texts(values['allowedValues']).join(', ')}`);
    default:
      return one(explained() ?? violation.message ?? 'is not valid');
  }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

// RFC 6901 §4.
function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
