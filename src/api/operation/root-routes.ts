import type { Api } from '../server/api-instance.ts';

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>filing-webhooks</title>
<h1>filing-webhooks</h1>
<p>Signed webhooks for every change of a filing.</p>
<ul>
<li><a href="docs/">API reference</a>
<li><a href="openapi.json">OpenAPI document</a>
<li><a href="health/ready">Readiness</a>
<li><a href="metrics">Metrics</a>
</ul>
</html>
`;

/** A page of links at `/`, for a daemon without a dashboard. */
export function addRootRoute(app: Api): void {
  app.get('/', { schema: { hide: true } }, async (_request, reply) => {
    void reply.type('text/html; charset=utf-8');
    return page;
  });
}
