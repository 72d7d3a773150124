import com.fasterxml.jackson.databind.JsonNode;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.AsciiString;
import io.netty.util.collection.IntObjectHashMap;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;

/** Sends pushes over one HTTP/2 connection of Netty's, as many at the same time as the server allows. */
final class Sender {
    private static final int IN_FLIGHT_MAXIMUM = 1_000;
    private static final long TOKEN_NANOSECONDS = 40L * 60 * 1_000_000_000;

    private final Semaphore room = new Semaphore(IN_FLIGHT_MAXIMUM);
    private final JsonNode apns;
    private final PrivateKey key;
    private final AsciiString authority;
    private final AsciiString topic;
    private final Handler handler;
    private final Channel channel;
    private AsciiString token;
    private long tokenSigned;

    Sender(JsonNode apns) throws Exception {
        this.apns = apns;
        String pem = Files.readString(Path.of(apns.get("key").textValue())).replaceAll("-----[^-]+-----|\\s", "");
        key = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem)));
        int port = apns.get("port").intValue();
        authority = AsciiString.of("127.0.0.1:" + port);
        topic = AsciiString.of(apns.get("topic").textValue());
        SSLContext tls = trusting(Path.of(apns.get("ca").textValue()));
        handler = new Builder().build();
        channel = new Bootstrap().group(new NioEventLoopGroup(1)).channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel socket) {
                        SSLEngine engine = tls.createSSLEngine("127.0.0.1", port);
                        engine.setUseClientMode(true);
                        SSLParameters parameters = engine.getSSLParameters();
                        parameters.setApplicationProtocols(new String[] {"h2"});
                        parameters.setEndpointIdentificationAlgorithm("HTTPS");
                        engine.setSSLParameters(parameters);
                        socket.pipeline().addLast(new SslHandler(engine), new FlushConsolidationHandler(256, true), handler);
                    }
                })
                .connect("127.0.0.1", port).sync().channel();
        channel.pipeline().get(SslHandler.class).handshakeFuture().sync();
        channel.closeFuture().addListener(closed -> Worker.fail(new IllegalStateException("the connection closed")));
    }

    private static SSLContext trusting(Path certificate) throws Exception {
        KeyStore anchors = KeyStore.getInstance(KeyStore.getDefaultType());
        anchors.load(null, null);
        try (InputStream file = Files.newInputStream(certificate)) {
            anchors.setCertificateEntry("apns", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(anchors);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    /** Sends a push to each token; calls `ended` for each that was accepted, on the connection's thread. */
    void push(List<byte[]> tokens, byte[] payload, String collapse, Runnable ended) throws InterruptedException {
        for (int start = 0; start < tokens.size(); start += IN_FLIGHT_MAXIMUM / 4) {
            List<byte[]> some = tokens.subList(start, Math.min(tokens.size(), start + IN_FLIGHT_MAXIMUM / 4));
            room.acquire(some.size());
            channel.eventLoop().submit(() -> {
                for (byte[] device : some) {
                    handler.send(headers(device, collapse), payload, ended);
                }
                handler.flush();
            }).addListener(done -> {
                if (!done.isSuccess()) {
                    Worker.fail(done.cause());
                }
            });
        }
    }

    private Http2Headers headers(byte[] device, String collapse) {
        return new DefaultHttp2Headers(false).method("POST").scheme("https").authority(authority)
                .path("/3/device/" + HexFormat.of().formatHex(device))
                .add("authorization", providerToken())
                .add("apns-topic", topic)
                .add("apns-push-type", "background")
                .add("apns-priority", "5")
                .add("apns-collapse-id", collapse)
                .add("apns-id", identifier());
    }

    private static String identifier() {
        var random = ThreadLocalRandom.current();
        return new UUID(random.nextLong() & ~0xF000L | 0x4000L, random.nextLong() >>> 2 | 1L << 63).toString();
    }

    private AsciiString providerToken() {
        if (token == null || System.nanoTime() - tokenSigned > TOKEN_NANOSECONDS) {
            tokenSigned = System.nanoTime();
            token = Worker.unchecked(this::sign);
        }
        return token;
    }

    private AsciiString sign() throws Exception {
        var encoder = Base64.getUrlEncoder().withoutPadding();
        String header = "{\"alg\":\"ES256\",\"kid\":\"" + apns.get("keyId").textValue() + "\"}";
        String claims = "{\"iss\":\"" + apns.get("teamId").textValue() + "\",\"iat\":"
                + System.currentTimeMillis() / 1_000 + "}";
        String text = encoder.encodeToString(header.getBytes()) + "." + encoder.encodeToString(claims.getBytes());
        Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
        signature.initSign(key);
        signature.update(text.getBytes());
        return AsciiString.of("bearer " + text + "." + encoder.encodeToString(signature.sign()));
    }

    /** What a stream waits for. */
    private final class Handler extends Http2ConnectionHandler {
        private final IntObjectHashMap<Runnable> waiting = new IntObjectHashMap<>(2 * IN_FLIGHT_MAXIMUM);
        private ChannelHandlerContext context;

        Handler(Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
            super(decoder, encoder, settings);
        }

        @Override
        public void handlerAdded(ChannelHandlerContext context) throws Exception {
            super.handlerAdded(context);
            this.context = context;
        }

        @Override
        public void onError(ChannelHandlerContext context, boolean outbound, Throwable cause) {
            Worker.fail(cause);
        }

        void send(Http2Headers headers, byte[] payload, Runnable whenEnded) {
            int stream = connection().local().incrementAndGetNextStreamId();
            waiting.put(stream, whenEnded);
            encoder().writeHeaders(context, stream, headers, 0, false, context.newPromise());
            encoder().writeData(context, stream, Unpooled.wrappedBuffer(payload), 0, true, context.newPromise());
        }

        /** Writes what waits: the bodies, too, which the flow control holds. */
        void flush() {
            flush(context);
        }

        void answered(int stream, Http2Headers headers) {
            if (!"200".contentEquals(headers.status())) {
                Worker.fail(new IllegalStateException("a push was answered " + headers.status()));
            }
            room.release();
            waiting.remove(stream).run();
        }
    }

    private final class Builder extends AbstractHttp2ConnectionHandlerBuilder<Handler, Builder> {
        private Handler built;

        @Override
        protected Handler build() {
            server(false);
            // Streams beyond the server's limit wait in the encoder.
            encoderEnforceMaxConcurrentStreams(true);
            frameListener(new Http2FrameAdapter() {
                @Override
                public void onHeadersRead(
                        ChannelHandlerContext context, int stream, Http2Headers headers, int dependency, short weight,
                        boolean exclusive, int padding, boolean endsStream) {
                    built.answered(stream, headers);
                }

                @Override
                public void onHeadersRead(
                        ChannelHandlerContext context, int stream, Http2Headers headers, int padding, boolean endsStream) {
                    built.answered(stream, headers);
                }

                @Override
                public int onDataRead(
                        ChannelHandlerContext context, int stream, ByteBuf data, int padding, boolean endsStream) {
                    return data.readableBytes() + padding;
                }
            });
            return super.build();
        }

        @Override
        protected Handler build(
                Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
            built = new Handler(decoder, encoder, settings);
            return built;
        }
    }
}
