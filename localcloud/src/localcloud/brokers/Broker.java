package localcloud;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.Provider;
import java.security.Security;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import javax.security.auth.Subject;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.spi.LoginModule;
import javax.security.sasl.SaslServer;
import javax.security.sasl.SaslServerFactory;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.authenticator.SaslInternalConfigs;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerExtensionsValidatorCallback;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallback;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;
import org.apache.kafka.server.policy.AlterConfigPolicy;
import org.apache.kafka.server.policy.CreateTopicPolicy;

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

    /** What the verifier at `localcloud.token.url` says: yes with some lines, or no with a reason. */
    private record Verdict(boolean accepted, String text) {
        private static final String URL = System.getProperty("localcloud.token.url");
        private static final int TIMEOUT_MS = 5_000;

        /** Asks one of its questions: token, payload, access. */
        static Verdict ask(String question, String body) throws IOException {
            URI uri = URI.create(URL + question);
            HttpURLConnection http = (HttpURLConnection) uri.toURL().openConnection();
            http.setConnectTimeout(TIMEOUT_MS);
            http.setReadTimeout(TIMEOUT_MS);
            http.setDoOutput(true);
            http.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
            boolean accepted = http.getResponseCode() == 200;
            try (var answer = accepted ? http.getInputStream() : http.getErrorStream()) {
                String text = new String(answer.readAllBytes(), StandardCharsets.UTF_8);
                return new Verdict(accepted, text);
            }
        }

        /** Of an accepted login: the first line. */
        String principal() {
            return text.split("\n")[0];
        }

        /** Of an accepted login: the second line. */
        long expiresMs() {
            return Long.parseLong(text.split("\n")[1]);
        }
    }

    /** OAUTHBEARER, as Python clients log in: has each token verified. */
    public static final class TokenCheck implements AuthenticateCallbackHandler {
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

        private static void check(OAuthBearerValidatorCallback callback) throws IOException {
            String token = callback.tokenValue();
            Verdict verdict = Verdict.ask("token", token);
            if (verdict.accepted()) {
                callback.token(new Accepted(token, verdict.principal(), verdict.expiresMs()));
            } else {
                callback.error("invalid_token", verdict.text(), null);
            }
        }
    }

    /** AWS_MSK_IAM, as Java clients log in: makes Kafka know the mechanism by being loaded. */
    public static final class PayloadLogin implements LoginModule {
        static {
            Security.addProvider(new PayloadProvider());
        }

        private static final class PayloadProvider extends Provider {
            private static final long serialVersionUID = 1L;

            PayloadProvider() {
                super("localcloud", "1", "AWS_MSK_IAM on the server's side");
                put("SaslServerFactory.AWS_MSK_IAM", PayloadServers.class.getName());
            }
        }

        @Override
        public void initialize(
                Subject subject,
                CallbackHandler handler,
                Map<String, ?> shared,
                Map<String, ?> options) {}

        @Override
        public boolean login() {
            return true;
        }

        @Override
        public boolean commit() {
            return true;
        }

        @Override
        public boolean abort() {
            return false;
        }

        @Override
        public boolean logout() {
            return true;
        }
    }

    /** Makes the server's side of one AWS_MSK_IAM login. */
    public static final class PayloadServers implements SaslServerFactory {
        @Override
        public SaslServer createSaslServer(
                String mechanism,
                String protocol,
                String server,
                Map<String, ?> properties,
                CallbackHandler handler) {
            return new PayloadServer();
        }

        @Override
        public String[] getMechanismNames(Map<String, ?> properties) {
            return new String[] {"AWS_MSK_IAM"};
        }
    }

    /** One login: the client sends a signed JSON object, and is told a request id if it holds. */
    private static final class PayloadServer implements SaslServer {
        private Verdict verdict;

        @Override
        public byte[] evaluateResponse(byte[] response) {
            try {
                verdict = Verdict.ask("payload", new String(response, StandardCharsets.UTF_8));
            } catch (IOException away) {
                throw new SaslAuthenticationException("Access denied: nobody could be asked", away);
            }
            if (!verdict.accepted()) {
                throw new SaslAuthenticationException("Access denied: " + verdict.text());
            }
            String answer = "{\"version\":\"2020_10_22\",\"request-id\":\"" + UUID.randomUUID() + "\"}";
            return answer.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public boolean isComplete() {
            return verdict != null && verdict.accepted();
        }

        @Override
        public String getAuthorizationID() {
            return verdict.principal();
        }

        @Override
        public Object getNegotiatedProperty(String name) {
            return name.equals(SaslInternalConfigs.CREDENTIAL_LIFETIME_MS_SASL_NEGOTIATED_PROPERTY_KEY)
                    ? verdict.expiresMs()
                    : null;
        }

        @Override
        public String getMechanismName() {
            return "AWS_MSK_IAM";
        }

        @Override
        public byte[] unwrap(byte[] incoming, int offset, int length) {
            throw new IllegalStateException("AWS_MSK_IAM has no security layer of its own");
        }

        @Override
        public byte[] wrap(byte[] outgoing, int offset, int length) {
            throw new IllegalStateException("AWS_MSK_IAM has no security layer of its own");
        }

        @Override
        public void dispose() {}
    }

    /** ACLs for everybody but IAM principals, for whom the verifier knows the policies. */
    public static final class Access extends StandardAuthorizer {
        private static final long REMEMBERED_NS = 2_000_000_000L;
        private static final int MOST_REMEMBERED = 10_000;

        private record Decision(AuthorizationResult result, long madeAt) {}

        private final Map<String, Decision> decisions = new ConcurrentHashMap<>();

        @Override
        public List<AuthorizationResult> authorize(
                AuthorizableRequestContext context, List<Action> actions) {
            if (!isIam(context)) {
                return super.authorize(context, actions);
            }
            List<AuthorizationResult> results = new ArrayList<>(actions.size());
            for (Action action : actions) {
                results.add(decide(context, action));
            }
            return results;
        }

        /** "May they do it with any topic": there is no such question to IAM. */
        @Override
        public AuthorizationResult authorizeByResourceType(
                AuthorizableRequestContext context, AclOperation operation, ResourceType type) {
            return isIam(context)
                    ? AuthorizationResult.DENIED
                    : super.authorizeByResourceType(context, operation, type);
        }

        /** By name and not by listener: what a broker forwards reaches the controller on another. */
        private static boolean isIam(AuthorizableRequestContext context) {
            return context.principal().getName().startsWith("arn:");
        }

        private AuthorizationResult decide(AuthorizableRequestContext context, Action action) {
            String question =
                    String.join(
                            "\n",
                            context.principal().getName(),
                            action.operation().name(),
                            action.resourcePattern().resourceType().name(),
                            action.resourcePattern().name());
            Decision known = decisions.get(question);
            if (known == null || System.nanoTime() - known.madeAt() > REMEMBERED_NS) {
                if (decisions.size() >= MOST_REMEMBERED) {
                    decisions.clear();
                }
                known = new Decision(ask(question), System.nanoTime());
                decisions.put(question, known);
            }
            return known.result();
        }

        private static AuthorizationResult ask(String question) {
            try {
                return Verdict.ask("access", question).accepted()
                        ? AuthorizationResult.ALLOWED
                        : AuthorizationResult.DENIED;
            } catch (IOException away) {
                return AuthorizationResult.DENIED;
            }
        }
    }

    /** The limits of MSK Serverless for topics: their properties, replicas and partitions. */
    public static final class ServerlessTopics implements CreateTopicPolicy, AlterConfigPolicy {
        private static final Set<String> PROPERTIES =
                Set.of(
                        "cleanup.policy",
                        "compression.type",
                        "max.message.bytes",
                        "message.timestamp.difference.max.ms",
                        "message.timestamp.type",
                        "retention.bytes",
                        "retention.ms");
        private static final int REPLICAS = 3;
        private static final int MOST_PARTITIONS = 2_400;
        private static final int MOST_COMPACTED_PARTITIONS = 120;
        private static final long MOST_MESSAGE_BYTES = 8_388_608;

        @Override
        public void configure(Map<String, ?> configs) {}

        @Override
        public void close() {}

        @Override
        public void validate(CreateTopicPolicy.RequestMetadata request) {
            if (request.topic().startsWith("__")) {
                return; // Kafka's own
            }
            check(request.configs());
            if (request.replicationFactor() != null && request.replicationFactor() != REPLICAS) {
                throw new PolicyViolationException(
                        "MSK Serverless has " + REPLICAS + " replicas of each partition, not "
                                + request.replicationFactor());
            }
            String cleanup = request.configs().getOrDefault("cleanup.policy", "delete");
            int most = cleanup.contains("compact") ? MOST_COMPACTED_PARTITIONS : MOST_PARTITIONS;
            if (request.numPartitions() != null && request.numPartitions() > most) {
                throw new PolicyViolationException(
                        "MSK Serverless has up to " + most + " partitions with cleanup.policy "
                                + cleanup + ", not " + request.numPartitions());
            }
        }

        @Override
        public void validate(AlterConfigPolicy.RequestMetadata request) {
            if (request.resource().type() != ConfigResource.Type.TOPIC) {
                throw new PolicyViolationException("MSK Serverless has properties of topics only");
            }
            check(request.configs());
        }

        private static void check(Map<String, String> configs) {
            for (String name : configs.keySet()) {
                if (!PROPERTIES.contains(name)) {
                    throw new PolicyViolationException(
                            "MSK Serverless does not take the property " + name + " of a topic");
                }
            }
            String bytes = configs.get("max.message.bytes");
            if (bytes != null && Long.parseLong(bytes) > MOST_MESSAGE_BYTES) {
                throw new PolicyViolationException(
                        "MSK Serverless takes max.message.bytes up to " + MOST_MESSAGE_BYTES
                                + ", not " + bytes);
            }
        }
    }
}
