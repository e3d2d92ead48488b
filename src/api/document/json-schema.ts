/** A JSON Schema of the OpenAPI document, as far as the document's own code reads it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly [keyword: string]: unknown;
}

/** The schemas of a document by their names. */
export type NamedSchemas = Readonly<Record<string, JsonSchema>>;

/** The body of a request or a response, in one media type. */
export interface MediaType {
  readonly schema?: JsonSchema;
  readonly example?: unknown;
  readonly examples?: unknown;
}

/** The media types of a request or a response. */
export type Content = Readonly<Record<string, MediaType>>;

/** One operation, or one callback. */
export interface Operation {
  readonly operationId?: string;
  readonly requestBody?: { readonly content: Content };
  readonly responses?: Readonly<Record<string, { readonly content?: Content }>>;
}

/** An OpenAPI 3.1 document. */
export interface ApiDocument {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks?: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components?: { readonly schemas?: NamedSchemas };
}

const base = '#/components/schemas/';

/** A reference to a named schema; pure. */
export function refTo(name: string): JsonSchema {
  return { $ref: `${base}${name}` };
}

/** The name that a reference leads to; null where the schema is no reference; pure. */
export function refName({ $ref }: JsonSchema): string | null {
  return $ref?.startsWith(base) === true ? $ref.slice(base.length) : null;
}

/** The same operations with each one's own result of `change`; pure. */
export function mapOperations(
  document: ApiDocument,
  change: (operation: Operation) => Operation,
): ApiDocument {
  const paths = mapValues(document.paths ?? {}, (methods) => mapValues(methods, change));
  const webhooks = mapValues(document.webhooks ?? {}, ({ post }) => ({ post: change(post) }));
  return { ...document, paths, webhooks };
}

/** An operation with other media types in its request and in its responses; pure. */
export function mapContents(
  operation: Operation,
  request: (content: Content) => Content,
  response: (content: Content, status: string) => Content,
): Operation {
  const { requestBody, responses } = operation;
  return {
    ...operation,
    ...(requestBody === undefined
      ? {}
      : { requestBody: { ...requestBody, content: request(requestBody.content) } }),
    ...(responses === undefined
      ? {}
      : {
          responses: mapValues(responses, (one, status) =>
            one.content === undefined ? one : { ...one, content: response(one.content, status) },
          ),
        }),
  };
}

/** An object with the same keys and other values; pure. */
export function mapValues<A, B>(
  record: Readonly<Record<string, A>>,
  change: (value: A, key: string) => B,
): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}
