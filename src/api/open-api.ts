import swagger from '@fastify/swagger';
import type { TSchema } from 'typebox';
import { accountSchema } from './accounts-schema.ts';
import type { Api } from './api-instance.ts';
import { problemSchema } from './common-schema.ts';
import type { ApiDeps } from './deps.ts';
import { eventSchema } from './events-schema.ts';
import { filingSchema } from './filings-schema.ts';
import { registeredSchema, subscriptionSchema } from './subscriptions-schema.ts';
import { newTokenSchema, tokenSchema } from './tokens-schema.ts';

/** Schemas that several answers share, by their `$id`. */
export const sharedSchemas: readonly TSchema[] = [
  problemSchema,
  accountSchema,
  tokenSchema,
  newTokenSchema,
  subscriptionSchema,
  registeredSchema,
  eventSchema,
  filingSchema,
];

/** Collects the routes added from now on into an OpenAPI 3.1 document, `app.swagger()`. */
export async function addOpenApi(app: Api, { version }: Pick<ApiDeps, 'version'>): Promise<void> {
  for (const schema of sharedSchemas) app.addSchema(schema);
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: 'filing-webhooks', version } },
    convertConstToEnum: false,
    refResolver: {
      buildLocalReference: (json, _base, _fragment, i) =>
        typeof json['$id'] === 'string' ? json['$id'] : `def-${i}`,
    },
  });
}
