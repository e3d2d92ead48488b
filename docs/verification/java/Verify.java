// java Verify.java HEADERS_FILE BODY_FILE, with the secret in WEBHOOK_SECRET
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class Verify {
    private static final long TOLERANCE_SECONDS = 5 * 60;

    /** Throws unless body (the bytes as received) was signed with secret just now. */
    static void verify(String secret, Map<String, String> headers, byte[] body) throws GeneralSecurityException {
        String id = headers.getOrDefault("webhook-id", "");
        String timestamp = headers.getOrDefault("webhook-timestamp", "");
        String signatures = headers.getOrDefault("webhook-signature", "");
        if (id.isEmpty() || !timestamp.matches("[0-9]{1,12}")) {
            throw new GeneralSecurityException("a webhook header is missing or malformed");
        }
        if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > TOLERANCE_SECONDS) {
            throw new GeneralSecurityException("the timestamp is more than five minutes away");
        }
        byte[] key = Base64.getDecoder().decode(secret.replaceFirst("^whsec_", ""));
        if (key.length < 24) {
            throw new GeneralSecurityException("the secret is not whsec_ and base64");
        }
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
        byte[] expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(StandardCharsets.UTF_8);
        // During a rotation there are several signatures, one for each secret.
        boolean matches = Arrays.stream(signatures.split(" "))
                .anyMatch(given -> MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), expected));
        if (!matches) {
            throw new GeneralSecurityException("no signature matches");
        }
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
            String secret = System.getenv().getOrDefault("WEBHOOK_SECRET", "");
            verify(secret, readHeaders(Path.of(args[0])), Files.readAllBytes(Path.of(args[1])));
        } catch (GeneralSecurityException | IllegalArgumentException error) {
            System.err.println("refused: " + error.getMessage());
            System.exit(1);
        }
        System.out.println("ok");
    }
}
