// Maven: com.standardwebhooks:standardwebhooks
import com.standardwebhooks.Webhook;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

public final class Receiver {
    /** Throws unless the callback is genuine; body is as received. */
    public static void verify(Map<String, List<String>> headers, byte[] body) throws Exception {
        new Webhook(System.getenv("WEBHOOK_SECRET"))
                .verify(new String(body, StandardCharsets.UTF_8), HttpHeaders.of(headers, (name, value) -> true));
    }
}
