import { type FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { uploadBytesMax } from '../decisions.ts';
import { SandboxError, filingNotFound } from '../errors.ts';
import { withStatus, type Filing } from '../filings/filing.ts';
import { ownFiling } from './filing-routes.ts';
import { UploadBody } from '../filings/input-schema.ts';
import { accountOf, type SandboxApp, type SandboxDeps } from '../sandbox-app.ts';
import { type Upload } from '../filings/uploads.ts';

const uploadType = 'application/octet-stream';
const SignatureQuery = Type.Object({ expires: Type.String(), signature: Type.String() });
const PathParams = Type.Object({ owner: Type.String(), ticket: Type.String(), fileName: Type.String() });

/** `POST /partner/upload-user-file`: issues the signed URL. */
export function addUploadTicketRoute(app: SandboxApp, deps: Pick<SandboxDeps, 'store' | 'uploads'>): void {
  app.post('/partner/upload-user-file', { schema: { body: UploadBody } }, (request) => {
    const { fileName, filingId } = request.body;
    if (filingId !== undefined) ownFiling(deps.store, request, filingId);
    const { owner } = accountOf(request);
    const upload = deps.uploads.issue({ owner, fileName, filingId: filingId ?? null });
    return { uploadUrl: uploadUrl(request, upload), fileName, storagePath: upload.storagePath };
  });
}

/**
 * `PUT {uploadUrl}`: the storage, which knows signatures and no keys. The bytes are counted and thrown away.
 */
export function addStorageRoute(app: SandboxApp, deps: Pick<SandboxDeps, 'store' | 'uploads' | 'now'>): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    uploadType,
    { parseAs: 'buffer', bodyLimit: uploadBytesMax },
    (_request, bytes, done) => {
      done(null, bytes);
    },
  );
  app.put(
    '/_storage/uploads/:owner/:ticket/:fileName',
    { schema: { params: PathParams, querystring: SignatureQuery }, onRequest: refuseOtherTypes },
    (request, reply) => {
      const { owner, ticket, fileName } = request.params;
      const upload = deps.uploads.check(`uploads/${owner}/${ticket}/${fileName}`, request.query);
      if (upload.filingId !== null) {
        const filing = deps.store.get(upload.filingId);
        if (filing === undefined) throw filingNotFound(upload.filingId);
        deps.store.put(withFile(filing, upload, deps.now()));
      }
      deps.uploads.store(upload);
      return reply
        .code(200)
        .send({ storagePath: upload.storagePath, bytes: (request.body as Buffer | undefined)?.length ?? 0 });
    },
  );
}

// The filing with one more file; a COMPLETED one becomes PENDING again (docs/partner.md#statuses).
function withFile(filing: Filing, upload: Upload, nowMs: number): Filing {
  const at = new Date(nowMs).toISOString();
  const { fileName, storagePath } = upload;
  // The control interface may have put any value there.
  const files = Array.isArray(filing.userFiles) ? filing.userFiles : [];
  const id = `file_${filing.id}_${files.length + 1}`;
  const file = { id, name: fileName, fileName, filePath: storagePath, createdAt: at, updatedAt: at };
  const extended: Filing = { ...filing, userFiles: [...files, file] };
  return filing.status === 'COMPLETED' ? withStatus(extended, { status: 'PENDING' }, nowMs) : extended;
}

async function refuseOtherTypes(request: FastifyRequest): Promise<void> {
  if (request.headers['content-type'] === uploadType) return;
  throw new SandboxError('UPLOAD_CONTENT_TYPE', `this URL was signed for content-type ${uploadType}`);
}

// The host that the client used: behind a forwarded port the sandbox cannot know its own address.
function uploadUrl(request: FastifyRequest, { storagePath, expires, signature }: Upload): string {
  const signed = new URLSearchParams({ expires, signature });
  return `${request.protocol}://${request.host}/_storage/${storagePath}?${signed.toString()}`;
}
