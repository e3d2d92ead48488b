<?php
// php verify.php HEADERS_FILE BODY_FILE, with the secret in WEBHOOK_SECRET
declare(strict_types=1);

const TOLERANCE_SECONDS = 5 * 60;

/** Throws unless $body (the bytes as received) was signed with $secret just now. Header names are in lower case. */
function verify(string $secret, array $headers, string $body): void
{
    $id = $headers['webhook-id'] ?? '';
    $timestamp = $headers['webhook-timestamp'] ?? '';
    $signatures = $headers['webhook-signature'] ?? '';
    if ($id === '' || preg_match('/\A[0-9]{1,12}\z/', $timestamp) !== 1) {
        throw new RuntimeException('a webhook header is missing or malformed');
    }
    if (abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        throw new RuntimeException('the timestamp is more than five minutes away');
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
    if ($key === false || strlen($key) < 24) {
        throw new RuntimeException('the secret is not whsec_ and base64');
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    // During a rotation there are several signatures, one for each secret.
    foreach (explode(' ', $signatures) as $given) {
        if (hash_equals($expected, $given)) {
            return;
        }
    }
    throw new RuntimeException('no signature matches');
}

function readHeaders(string $file): array
{
    $headers = [];
    foreach (file($file, FILE_IGNORE_NEW_LINES) as $line) {
        if (str_contains($line, ':')) {
            [$name, $value] = explode(':', $line, 2);
            $headers[strtolower($name)] = trim($value);
        }
    }
    return $headers;
}

try {
    verify((string) getenv('WEBHOOK_SECRET'), readHeaders($argv[1]), file_get_contents($argv[2]));
    echo "ok\n";
} catch (RuntimeException $error) {
    fwrite(STDERR, "refused: {$error->getMessage()}\n");
    exit(1);
}
