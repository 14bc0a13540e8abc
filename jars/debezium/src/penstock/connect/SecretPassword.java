package penstock.connect;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Properties;
import org.postgresql.plugin.AuthenticationPlugin;
import org.postgresql.plugin.AuthenticationRequestType;
import org.postgresql.util.PSQLException;
import org.postgresql.util.PSQLState;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.secretsmanager.SecretsManagerClient;
import software.amazon.awssdk.services.secretsmanager.SecretsManagerClientBuilder;

/**
 * Reads the password of each connection to PostgreSQL from Secrets Manager, with the role of the worker.
 *
 * <p>A password that changes is used by the next connection; no configuration holds it, and nothing restarts. The
 * property {@code secret} names the secret, a JSON object with {@code password}, and {@code region} its region, without
 * which the worker must know it; one of MSK Connect does not. An error is one of the connection, which Debezium tries again.
 */
public final class SecretPassword implements AuthenticationPlugin {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final String secret;
    private final String region;

    public SecretPassword(Properties connection) {
        secret = connection.getProperty("secret");
        region = connection.getProperty("region");
    }

    @Override
    public char[] getPassword(AuthenticationRequestType type) throws PSQLException {
        SecretsManagerClientBuilder builder =
                SecretsManagerClient.builder().httpClient(UrlConnectionHttpClient.create());
        if (region != null) {
            builder.region(Region.of(region));
        }
        try (SecretsManagerClient client = builder.build()) {
            return readPassword(client.getSecretValue(each -> each.secretId(secret)).secretString());
        } catch (SdkException error) {
            throw fail("cannot be read: " + error.getMessage());
        }
    }

    private char[] readPassword(String value) throws PSQLException {
        try {
            JsonNode found = JSON.readTree(value).path("password");
            if (found.isTextual()) {
                return found.textValue().toCharArray();
            }
        } catch (JsonProcessingException error) {
            // Its message would show the value.
        }
        throw fail("has no password; expected a JSON object with the field password");
    }

    private PSQLException fail(String what) {
        return new PSQLException("the secret " + secret + " " + what, PSQLState.CONNECTION_REJECTED);
    }
}
