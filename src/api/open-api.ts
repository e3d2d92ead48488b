import swagger from '@fastify/swagger';
import type { TSchema } from 'typebox';
import { accountSchema, savedAccountSchema } from './accounts/schema.ts';
import type { Api } from './server/api-instance.ts';
import { problemSchema } from './shared/schema.ts';
import {
  attemptDetailSchema,
  attemptSchema,
  deadLetterSchema,
  eventDeliverySchema,
} from './delivery/schema.ts';
import { replayCountSchema, replaySchema } from './delivery/replay-schema.ts';
import type { ApiDeps } from './deps.ts';
import { filingSchema } from './filings/schema.ts';
import { describeEvents, describeWebhooks } from './open-api-webhooks.ts';
import type { ApiDocument } from './document/json-schema.ts';
import { finishDocument } from './document/finish-document.ts';
import { publicKeySetSchema } from './public-keys.ts';
import { boardAccountSchema, rejectionSchema } from './rejections/schema.ts';
import { changedSchema, registeredSchema, subscriptionSchema } from './subscriptions/schema.ts';
import { sessionSchema } from './session.ts';
import { linkSchema, newTokenSchema, tokenSchema } from './tokens/schema.ts';

/** Schemas that several responses share, by their `$id`. */
const sharedSchemas: readonly TSchema[] = [
  problemSchema,
  accountSchema,
  savedAccountSchema,
  tokenSchema,
  newTokenSchema,
  linkSchema,
  sessionSchema,
  subscriptionSchema,
  registeredSchema,
  changedSchema,
  publicKeySetSchema,
  attemptSchema,
  attemptDetailSchema,
  deadLetterSchema,
  ...describeEvents(),
  eventDeliverySchema,
  replaySchema,
  replayCountSchema,
  filingSchema,
  rejectionSchema,
  boardAccountSchema,
];

const description = `Watches the filings of partner accounts and sends a webhook when a filing's status changes.

Lists answer \`items\` and \`nextCursor\`; pass that as \`cursor\` until it is null. Errors are RFC 9457 problem details with a stable \`code\`.
Their \`type\` leads to a page that explains the code. Under /v1, unknown fields and query parameters are refused; health, metrics and
pages ignore a query. While Redis is away, everything under /v1 answers 503 with \`Retry-After\`, as does /health/ready; /health/live,
/metrics, this document and the pages go on.`;

const tags = [
  {
    name: 'Accounts',
    description:
      'Partner accounts whose filings are watched. Creating, listing and removing them needs the operator token.',
  },
  { name: 'Tokens', description: 'Tokens of one account; everywhere else they get 404.' },
  { name: 'Session', description: 'What a token opens, and signing in to the page.' },
  { name: 'Subscriptions', description: 'Which events go to which endpoint, and how.' },
  { name: 'Delivery', description: 'Outcomes of callbacks; testing and replaying.' },
  { name: 'Events', description: 'The log of changes, as a list and as a stream.' },
  { name: 'Filings', description: 'The filings as the daemon last saw them.' },
  { name: 'Operation', description: 'For the operator of the daemon.' },
  { name: 'Callbacks', description: 'The requests that subscribers receive.' },
];

/** Collects the routes added from now on into the OpenAPI 3.1 document of `/openapi.json`. */
export async function addOpenApi(
  app: Api,
  { version, publicUrl }: Pick<ApiDeps, 'version' | 'publicUrl'>,
): Promise<void> {
  for (const schema of sharedSchemas) app.addSchema(schema);
  const optional = recordOptionalBodies(app);
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
      tags,
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
    transformObject: (made) => {
      if (!('openapiObject' in made)) return made.swaggerObject;
      const paths = (made.openapiObject.paths ?? {}) as Paths;
      for (const [path, method] of optional) {
        const body = paths[path]?.[method]?.requestBody;
        if (body !== undefined) body.required = false;
      }
      const written: unknown = made.openapiObject;
      return finishDocument(written as ApiDocument);
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

type Paths = Record<string, Record<string, { requestBody?: { required?: boolean } }>>;

// The paths and methods, as the document writes them, of the routes where no body is the same as `{}`.
function recordOptionalBodies(app: Api): readonly (readonly [path: string, method: string])[] {
  const found: (readonly [string, string])[] = [];
  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.bodyOptional !== true) return;
    for (const one of [method].flat()) found.push([url.replaceAll(/:(\w+)/g, '{$1}'), one.toLowerCase()]);
  });
  return found;
}
