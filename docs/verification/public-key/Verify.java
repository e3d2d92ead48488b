// java Verify.java HEADERS_FILE BODY_FILE, with the public keys in WEBHOOK_PUBLIC_KEYS, separated by spaces
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.spec.X509EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;

public final class Verify {
    private static final long TOLERANCE_SECONDS = 5 * 60;
    /** What stands before the 32 bytes of a key in its DER form (RFC 8410). */
    private static final byte[] KEY_HEAD = HexFormat.of().parseHex("302a300506032b6570032100");

    /** Throws unless body (the bytes as received) was signed for one of keys just now. */
    static void verify(String[] keys, Map<String, String> headers, byte[] body) throws GeneralSecurityException {
        String id = headers.getOrDefault("webhook-id", "");
        String timestamp = headers.getOrDefault("webhook-timestamp", "");
        String signatures = headers.getOrDefault("webhook-signature", "");
        if (id.isEmpty() || !timestamp.matches("[0-9]{1,12}")) {
            throw new GeneralSecurityException("a webhook header is missing or malformed");
        }
        if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > TOLERANCE_SECONDS) {
            throw new GeneralSecurityException("the timestamp is more than five minutes away");
        }
        byte[] head = (id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8);
        for (String key : keys) {
            PublicKey publicKey = readKey(key);
            // During a rotation there are several signatures, one for each key.
            for (String given : signatures.split(" ")) {
                // Only v1a counts: whoever learnt a secret could make a v1.
                if (given.startsWith("v1a,") && matches(publicKey, given.substring(4), head, body)) {
                    return;
                }
            }
        }
        throw new GeneralSecurityException("no signature matches");
    }

    private static boolean matches(PublicKey key, String given, byte[] head, byte[] body)
            throws GeneralSecurityException {
        Signature signature = Signature.getInstance("Ed25519");
        signature.initVerify(key);
        signature.update(head);
        signature.update(body);
        try {
            return signature.verify(Base64.getDecoder().decode(given));
        } catch (SignatureException | IllegalArgumentException malformed) {
            return false;
        }
    }

    private static PublicKey readKey(String text) throws GeneralSecurityException {
        byte[] bytes = Base64.getDecoder().decode(text.replaceFirst("^whpk_", ""));
        if (bytes.length != 32) {
            throw new GeneralSecurityException("a public key is not whpk_ and the base64 of 32 bytes");
        }
        ByteArrayOutputStream encoded = new ByteArrayOutputStream();
        encoded.writeBytes(KEY_HEAD);
        encoded.writeBytes(bytes);
        return KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded.toByteArray()));
    }

    private static Map<String, String> readHeaders(Path file) throws java.io.IOException {
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (String line : Files.readAllLines(file, StandardCharsets.ISO_8859_1)) {
            int colon = line.indexOf(':');
            if (colon > 0) {
                headers.put(line.substring(0, colon), line.substring(colon + 1).trim());
            }
        }
        return headers;
    }

    public static void main(String[] args) throws java.io.IOException {
        try {
            String keys = System.getenv().getOrDefault("WEBHOOK_PUBLIC_KEYS", "").trim();
            String[] each = keys.isEmpty() ? new String[0] : keys.split(" +");
            verify(each, readHeaders(Path.of(args[0])), Files.readAllBytes(Path.of(args[1])));
        } catch (GeneralSecurityException | IllegalArgumentException error) {
            System.err.println("refused: " + error.getMessage());
            System.exit(1);
        }
        System.out.println("ok");
    }
}
