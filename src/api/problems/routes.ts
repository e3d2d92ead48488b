import type { Api } from '../server/api-instance.ts';
import { Problem, problemCodes } from '../shared/problem.ts';
import type { ProblemCode } from '../shared/problem.ts';
import { problemTexts } from './texts.ts';

const codes = Object.keys(problemCodes) as ProblemCode[];

/**
 * The pages to which the `type` of a problem leads: one for each code, and one with all of them. No token.
 */
export function addProblemRoutes(app: Api): void {
  app.get('/problems', { schema: { hide: true } }, (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page('Errors of the API', codes)),
  );
  app.get<{ Params: { code: string } }>(
    '/problems/:code',
    { schema: { hide: true } },
    ({ params }, reply) => {
      const code = codes.find((known) => known === params.code);
      if (code === undefined) throw new Problem('not_found', '/problems lists every code.');
      return reply.type('text/html; charset=utf-8').send(page(code, [code]));
    },
  );
}

function page(title: string, shown: readonly ProblemCode[]): string {
  const sections = shown.map((code) => {
    const [status, summary] = problemCodes[code];
    return `<h2 id="${code}">${code}</h2>\n<p><strong>${status} · ${summary}.</strong> ${toHtml(problemTexts[code])}</p>`;
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · filing-webhooks</title>
<h1>${title}</h1>
${sections.join('\n')}
<p><a href="/problems">Every error</a> · <a href="/docs/">API reference</a></p>
</html>
`;
}

// The texts are the daemon's own: Markdown with code spans and nothing else.
function toHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}
