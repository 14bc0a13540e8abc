package localcloud;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerExtensionsValidatorCallback;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallback;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

/** A Kafka broker or controller that ends with its parent and knows IAM as MSK does. */
public final class Broker {
    private Broker() {}

    /**
     * Runs `kafka.Kafka` with a properties file, and halts as soon as the parent's end of standard
     * input is closed. Given a cluster id as well, it is a lone controller and formats its disk
     * first, unless that was done: StorageTool in a JVM of its own would double its start.
     */
    public static void main(String[] args) {
        Thread watch = new Thread(Broker::haltWithParent, "halt-with-parent");
        watch.setDaemon(true);
        watch.start();
        if (args.length > 1) {
            String[] format = {
                "format", "--standalone", "--ignore-formatted", "-c", args[0], "-t", args[1]
            };
            kafka.tools.StorageTool.execute(format, System.out);
        }
        kafka.Kafka.main(new String[] {args[0]});
    }

    private static void haltWithParent() {
        try {
            while (System.in.read() >= 0) {
                // Nobody writes; the kernel ends the stream when the parent is gone, kill -9 included.
            }
        } catch (IOException closed) {
            // The same news in other words.
        }
        Runtime.getRuntime().halt(1);
    }

    /** Sends each OAUTHBEARER token to the verifier at `localcloud.token.url`. */
    public static final class TokenCheck implements AuthenticateCallbackHandler {
        private static final String URL = System.getProperty("localcloud.token.url");
        private static final int TIMEOUT_MS = 5_000;

        /** A token that the verifier accepted. */
        private record Accepted(String value, String principalName, long lifetimeMs)
                implements OAuthBearerToken {
            @Override
            public Set<String> scope() {
                return Set.of();
            }

            @Override
            public Long startTimeMs() {
                return null;
            }
        }

        @Override
        public void configure(
                Map<String, ?> configs, String mechanism, List<AppConfigurationEntry> entries) {}

        @Override
        public void close() {}

        @Override
        public void handle(Callback[] callbacks) throws IOException, UnsupportedCallbackException {
            for (Callback callback : callbacks) {
                if (callback instanceof OAuthBearerValidatorCallback token) {
                    check(token);
                } else if (callback instanceof OAuthBearerExtensionsValidatorCallback extensions) {
                    extensions.inputExtensions().map().keySet().forEach(extensions::valid);
                } else {
                    throw new UnsupportedCallbackException(callback);
                }
            }
        }

        /** The verifier answers 200 with principal and expiry, a line each, or 403 with the reason. */
        private static void check(OAuthBearerValidatorCallback callback) throws IOException {
            HttpURLConnection http = (HttpURLConnection) URI.create(URL).toURL().openConnection();
            http.setConnectTimeout(TIMEOUT_MS);
            http.setReadTimeout(TIMEOUT_MS);
            http.setDoOutput(true);
            http.getOutputStream().write(callback.tokenValue().getBytes(StandardCharsets.UTF_8));
            boolean accepted = http.getResponseCode() == 200;
            try (var body = accepted ? http.getInputStream() : http.getErrorStream()) {
                String answer = new String(body.readAllBytes(), StandardCharsets.UTF_8);
                if (accepted) {
                    String[] lines = answer.split("\n");
                    callback.token(
                            new Accepted(callback.tokenValue(), lines[0], Long.parseLong(lines[1])));
                } else {
                    callback.error("invalid_token", answer, null);
                }
            }
        }
    }

    /** ACLs for everybody but IAM principals, whom MSK's ACLs do not concern. */
    public static final class Access extends StandardAuthorizer {
        @Override
        public List<AuthorizationResult> authorize(
                AuthorizableRequestContext context, List<Action> actions) {
            return isIam(context)
                    ? Collections.nCopies(actions.size(), AuthorizationResult.ALLOWED)
                    : super.authorize(context, actions);
        }

        @Override
        public AuthorizationResult authorizeByResourceType(
                AuthorizableRequestContext context, AclOperation operation, ResourceType type) {
            return isIam(context)
                    ? AuthorizationResult.ALLOWED
                    : super.authorizeByResourceType(context, operation, type);
        }

        /** By name and not by listener: what a broker forwards reaches the controller on another. */
        private static boolean isIam(AuthorizableRequestContext context) {
            return context.principal().getName().startsWith("arn:");
        }
    }
}
