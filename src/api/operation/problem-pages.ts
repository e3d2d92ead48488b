import { readFileSync } from 'node:fs';
import type { Api } from '../deps.ts';
import { Problem } from '../shared/problem.ts';

/** The page of docs/problems.md about each code, as HTML. */
const sections: ReadonlyMap<string, string> = new Map(
  readFileSync(new URL('../../../docs/problems.md', import.meta.url), 'utf8')
    .split('\n## ')
    .slice(1)
    .map((section) => {
      const [code = '', text = ''] = section.trim().split('\n\n');
      return [code, `<h2 id="${code}">${code}</h2>\n<p>${toHtml(text)}</p>`];
    }),
);

/**
 * The pages to which the `type` of a problem leads: one for each code, and one with all of them. No token.
 */
export function addProblemRoutes(app: Api): void {
  app.get('/problems', { schema: { hide: true } }, (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page('Errors of the API', [...sections.values()].join('\n'))),
  );
  app.get<{ Params: { code: string } }>(
    '/problems/:code',
    { schema: { hide: true } },
    ({ params: { code } }, reply) => {
      const section = sections.get(code);
      if (section === undefined) throw new Problem('not_found', '/problems lists every code.');
      return reply.type('text/html; charset=utf-8').send(page(code, section));
    },
  );
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · filing-webhooks</title>
<h1>${title}</h1>
${content}
<p><a href="/problems">Every error</a> · <a href="/docs/">API reference</a></p>
</html>
`;
}

// The texts are the daemon's own: Markdown with code spans and one bold sentence.
function toHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
}
