import swagger from '@fastify/swagger';
import type { FastifySchema, RouteOptions } from 'fastify';
import type { Api, ApiDeps } from '../deps.ts';
import { describeWebhooks } from './event-schemas.ts';
import { type ApiDocument, finishDocument, mapValues } from './finish-document.ts';
import { type DocumentedStatus, problems, problemSchema } from '../shared/schema.ts';

const description = `Watches the filings of partner accounts and sends a webhook when a filing's status changes.

Lists answer \`items\` and \`nextCursor\`; pass that as \`cursor\` until it is null. Errors are RFC 9457 problem details with a stable \`code\`.
Their \`type\` leads to a page that explains the code. Under /v1, unknown fields and query parameters are refused; health, metrics and
pages ignore a query. While Redis is away, everything under /v1 answers 503 with \`Retry-After\`, as does /health/ready; /health/live,
/metrics, this document and the pages go on.`;

/** The tags, and the parts of paths whose routes have them: the last part without a parameter counts. */
const tags = [
  {
    name: 'Accounts',
    description:
      'Partner accounts whose filings are watched. Creating, listing and removing them needs the operator token.',
    parts: ['accounts', 'counts', 'accept', 'poll'],
  },
  {
    name: 'Tokens',
    description: 'Tokens of one account; everywhere else they get 404.',
    parts: ['tokens', 'links'],
  },
  { name: 'Session', description: 'What a token opens, and signing in to the page.', parts: ['session'] },
  {
    name: 'Subscriptions',
    description: 'Which events go to which endpoint, and how.',
    parts: ['subscriptions', 'rotate-secret', 'resume', 'preview'],
  },
  {
    name: 'Delivery',
    description: 'Outcomes of callbacks; testing and replaying; the public keys of signatures.',
    parts: ['attempts', 'dead-letters', 'deliveries', 'replay', 'replays', 'test', 'verify', 'webhook-keys'],
  },
  {
    name: 'Events',
    description: 'The log of changes, as a list and as a stream.',
    parts: ['events', 'stream', 'event-types'],
  },
  {
    name: 'Filings',
    description: 'The filings as the daemon last saw them.',
    parts: ['filings', 'seen', 'notes', 'assignee', 'answer', 'rejections', 'send', 'draft'],
  },
  {
    name: 'Operation',
    description: 'For the operator of the daemon.',
    parts: ['live', 'ready', 'metrics'],
  },
  { name: 'Callbacks', description: 'The requests that subscribers receive.', parts: [] },
];

/** Collects the routes added from now on into the OpenAPI 3.1 document of `/openapi.json`. */
export async function addOpenApi(
  app: Api,
  { version, publicUrl }: Pick<ApiDeps, 'version' | 'publicUrl'>,
): Promise<void> {
  const optionalBodies = new Set<string | undefined>();
  app.addSchema(problemSchema);
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, response: byReference(app, route.schema?.response) };
  });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'filing-webhooks',
        version,
        description,
        contact: { name: 'The operator of this daemon' },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicUrl ?? '/' }],
      tags: tags.map(({ name, description: text }) => ({ name, description: text })),
      security: [{ bearer: [] }],
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'The operator token, or a token of one account.',
          },
        },
      },
      webhooks: describeWebhooks(),
    } as object,
    transform: ({ schema, url, route }) => {
      if (route.config?.bodyOptional === true) optionalBodies.add(schema.operationId);
      return { schema: described(schema, url, route), url };
    },
    transformObject: (made) => {
      const written: unknown = 'openapiObject' in made ? made.openapiObject : made.swaggerObject;
      return finishDocument(written as ApiDocument, optionalBodies);
    },
    hideUntagged: true,
    stripBasePath: false,
    convertConstToEnum: false,
    refResolver: {
      buildLocalReference: (json, _base, _fragment, i) =>
        typeof json['$id'] === 'string' ? json['$id'] : `def-${i}`,
    },
  });
}

// A copy in which schemas with an `$id` are references to schemas of the instance, which it gets here.
function byReference(app: Api, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => byReference(app, item));
  if (typeof value !== 'object' || value === null) return value;
  const { $id, ...fields } = value as Record<string, unknown>;
  const copy = mapValues(fields, (field) => byReference(app, field));
  if (typeof $id !== 'string') return copy;
  if (app.getSchema($id) === undefined) app.addSchema({ ...copy, $id });
  return { $ref: `${$id}#` };
}

// The schema of a route with its tag and with the errors of every such route; routes that need no token name
// theirs.
function described(schema: FastifySchema, url: string, { config, method }: RouteOptions): FastifySchema {
  const part = url.split('/').findLast((each) => !each.startsWith(':'));
  const found = tags.filter(({ parts }) => parts.includes(part ?? '')).map(({ name }) => name);
  if (!url.startsWith('/v1/')) return { ...schema, tags: found, security: [] };
  const isChange = method !== 'GET' && config?.operatorOnly !== true && config?.anyToken !== true;
  const statuses: readonly DocumentedStatus[] = [
    ...([401, 404, 422, 429, 503, 'default'] as const),
    ...(schema.body === undefined ? [] : ([400, 403, 413, 415] as const)),
    ...(isChange ? ([403] as const) : []),
  ];
  return { ...schema, tags: found, response: { ...problems(statuses), ...(schema.response as object) } };
}
