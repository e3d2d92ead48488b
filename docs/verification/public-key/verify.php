<?php
// php verify.php HEADERS_FILE BODY_FILE, with the public keys in WEBHOOK_PUBLIC_KEYS, separated by spaces
declare(strict_types=1);

const TOLERANCE_SECONDS = 5 * 60;

/** Throws unless $body (the bytes as received) was signed for one of $keys just now. Header names are in lower case. */
function verify(array $keys, array $headers, string $body): void
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
    foreach ($keys as $text) {
        $key = base64_decode(preg_replace('/^whpk_/', '', $text), true);
        if ($key === false || strlen($key) !== SODIUM_CRYPTO_SIGN_PUBLICKEYBYTES) {
            throw new RuntimeException('a public key is not whpk_ and the base64 of 32 bytes');
        }
        // During a rotation there are several signatures, one for each key.
        foreach (explode(' ', $signatures) as $given) {
            // Only v1a counts: whoever learnt a secret could make a v1.
            $signature = str_starts_with($given, 'v1a,') ? base64_decode(substr($given, 4), true) : false;
            if (
                $signature !== false
                && strlen($signature) === SODIUM_CRYPTO_SIGN_BYTES
                && sodium_crypto_sign_verify_detached($signature, "$id.$timestamp.$body", $key)
            ) {
                return;
            }
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
    $keys = array_filter(explode(' ', (string) getenv('WEBHOOK_PUBLIC_KEYS')));
    verify($keys, readHeaders($argv[1]), file_get_contents($argv[2]));
    echo "ok\n";
} catch (RuntimeException $error) {
    fwrite(STDERR, "refused: {$error->getMessage()}\n");
    exit(1);
}
