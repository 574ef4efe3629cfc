// Reads with the official Java classes what the Rust encoder wrote, and prints what they hold: one JSON object a line for
// each line of the input, {"id": ..., "read": ...}, or {"id": ..., "absent": true} if these jars do not have the class.
// It judges nothing: the Rust test compares. Exit status 0 only when every line could be read.
import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONObject;
import com.alibaba.fastjson.serializer.SerializerFeature;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Calendar;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.rocketmq.acl.common.AclUtils;
import org.apache.rocketmq.common.UtilAll;
import org.apache.rocketmq.common.compression.CompressionType;
import org.apache.rocketmq.common.compression.CompressorFactory;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageClientIDSetter;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageId;
import org.apache.rocketmq.remoting.CommandCustomHeader;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.RemotingSerializable;

public class JavaRead {
    // Where classes of the protocol live: first as of 5.x, then as of 4.x.
    private static final String[] PACKAGES = {
        "remoting.protocol.header", "remoting.protocol.header.namesrv", "remoting.protocol.body", "remoting.protocol.heartbeat",
        "remoting.protocol.route", "remoting.protocol", "common.protocol.header", "common.protocol.header.namesrv",
        "common.protocol.body", "common.protocol.heartbeat", "common.protocol.route", "common.protocol", "common.message",
        "common.producer", "common",
    };

    public static void main(String[] args) throws Exception {
        if (args.length != 1) {
            System.err.println("usage: JavaRead FILE");
            System.exit(2);
        }
        System.exit(run(Path.of(args[0])));
    }

    private static int run(Path file) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        int failed = 0;
        for (String line : Files.readAllLines(file)) {
            JSONObject written = JSON.parseObject(line);
            Map<String, Object> answer = new TreeMap<>();
            answer.put("id", written.getString("id"));
            try {
                answer.put("read", read(written));
            } catch (ClassNotFoundException e) {
                answer.put("absent", true);
            } catch (Throwable e) {
                failed++;
                Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
                System.err.println("JavaRead: FAILED: " + written.getString("id") + ": " + cause);
                continue;
            }
            out.println(JSON.toJSONString(answer, SerializerFeature.WriteMapNullValue,
                SerializerFeature.DisableCircularReferenceDetect));
        }
        out.flush();
        return failed == 0 ? 0 : 1;
    }

    private static Object read(JSONObject written) throws Exception {
        byte[] bytes = unhex(written.getString("hex"));
        String className = written.getString("class");
        String[] arguments = written.getJSONArray("arguments").toArray(new String[0]);
        String kind = written.getString("kind");
        if (!className.isEmpty() && !kind.equals("call")) {
            find(className); // some cases just need a version that has it
        }
        switch (kind) {
            case "frame":
                return frame(bytes, className);
            case "record":
                return records(bytes);
            case "batch":
                return batch(bytes);
            case "body":
                // As Java would write it again. As text, because not all of its keys are.
                return JSON.toJSONString(RemotingSerializable.decode(bytes, find(className)),
                    SerializerFeature.DisableCircularReferenceDetect);
            case "compressed":
                return hex(CompressorFactory.getCompressor(CompressionType.of(arguments[0])).decompress(bytes));
            case "signed":
                return signed(bytes, arguments[0]);
            case "properties":
                return plain(MessageDecoder.string2messageProperties(text(bytes)));
            case "offset-id":
                return offsetId(text(bytes));
            case "unique-key":
                return uniqueKey(text(bytes));
            case "hash":
                return String.valueOf(text(bytes).hashCode());
            case "call":
                return call(className, arguments);
            default:
                throw new IllegalArgumentException("unknown kind " + kind);
        }
    }

    private static RemotingCommand command(byte[] frame) throws Exception {
        ByteBuffer buffer = ByteBuffer.wrap(frame);
        int length = buffer.getInt(); // the one thing that netty's decoder looks at
        if (length != buffer.remaining()) {
            throw new IllegalArgumentException("the length word says " + length + " where " + buffer.remaining() + " bytes are");
        }
        return RemotingCommand.decode(buffer.slice());
    }

    private static Object frame(byte[] bytes, String headerClass) throws Exception {
        RemotingCommand command = command(bytes);
        Map<String, Object> read = new TreeMap<>();
        read.put("code", command.getCode());
        read.put("language", plain(command.getLanguage()));
        read.put("version", command.getVersion());
        read.put("opaque", command.getOpaque());
        read.put("flag", command.getFlag());
        read.put("remark", command.getRemark());
        read.put("ext", plain(command.getExtFields()));
        read.put("body", command.getBody() == null ? "" : hex(command.getBody()));
        read.put("serialize", plain(command.getSerializeTypeCurrentRPC()));
        if (!headerClass.isEmpty()) {
            read.put("header", instance(command.decodeCommandCustomHeader(find(headerClass).asSubclass(CommandCustomHeader.class))));
        }
        return read;
    }

    // Each record as it is stored, and its body inflated.
    private static Object records(byte[] bytes) throws Exception {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        ByteBuffer again = ByteBuffer.wrap(bytes);
        List<Object> messages = new ArrayList<>();
        while (buffer.hasRemaining()) {
            int offset = buffer.position();
            MessageExt stored = MessageDecoder.decode(buffer, true, false);
            MessageExt inflated = MessageDecoder.decode(again, true, true);
            if (stored == null || inflated == null || buffer.position() != again.position()) {
                throw new IllegalArgumentException("no record at byte " + offset);
            }
            byte[] body = stored.getBody() == null ? new byte[0] : stored.getBody();
            if (UtilAll.crc32(body) != stored.getBodyCRC()) {
                throw new IllegalArgumentException("the check sum is " + stored.getBodyCRC() + ", not " + UtilAll.crc32(body));
            }
            Map<String, Object> message = new TreeMap<>();
            message.put("stored", instance(stored));
            message.put("inflated", plain(inflated.getBody()));
            messages.add(message);
        }
        return messages;
    }

    private static Object batch(byte[] bytes) throws Exception {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        List<Object> messages = new ArrayList<>();
        for (Message message : MessageDecoder.decodeMessages(buffer)) {
            messages.add(instance(message));
        }
        return messages;
    }

    // What a broker with access control would compute, by the code that it uses for it; beside it what the frame says.
    private static Object signed(byte[] bytes, String secret) throws Exception {
        RemotingCommand command = command(bytes);
        byte[] content;
        String claimed;
        try {
            Class<?> type = Class.forName("org.apache.rocketmq.auth.authentication.builder.DefaultAuthenticationContextBuilder");
            Method build = type.getMethod("build", ChannelHandlerContext.class, RemotingCommand.class);
            EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
            Object context = build.invoke(type.getDeclaredConstructor().newInstance(), channel.pipeline().firstContext(), command);
            content = (byte[]) context.getClass().getMethod("getContent").invoke(context);
            claimed = (String) context.getClass().getMethod("getSignature").invoke(context);
        } catch (ClassNotFoundException e) {
            TreeMap<String, String> fields = new TreeMap<>(command.getExtFields());
            claimed = fields.remove("Signature");
            content = AclUtils.combineRequestContent(command, fields);
        }
        Map<String, Object> read = new TreeMap<>();
        read.put("claimed", claimed);
        read.put("computed", AclUtils.calSignature(content, secret));
        return read;
    }

    private static Object offsetId(String text) throws Exception {
        MessageId id = MessageDecoder.decodeMessageId(text);
        Map<String, Object> read = new TreeMap<>();
        read.put("host", plain(id.getAddress()));
        read.put("offset", id.getOffset());
        read.put("again", MessageDecoder.createMessageId(id.getAddress(), id.getOffset()));
        return read;
    }

    private static Object uniqueKey(String text) {
        Map<String, Object> read = new TreeMap<>();
        read.put("ip", hex(MessageClientIDSetter.getIPFromID(text)));
        read.put("pid", MessageClientIDSetter.getPidFromID(text));
        // The month is not in the key: Java takes the latest that fits. The JVM runs in UTC, see java-read.
        Calendar calendar = Calendar.getInstance();
        calendar.setTime(MessageClientIDSetter.getNearlyTimeFromID(text));
        long time = calendar.getTimeInMillis();
        calendar.set(calendar.get(Calendar.YEAR), calendar.get(Calendar.MONTH), 1, 0, 0, 0);
        calendar.set(Calendar.MILLISECOND, 0);
        read.put("milliseconds", time - calendar.getTimeInMillis());
        return read;
    }

    // Calls a static method, "Class.method", with arguments given as text.
    private static Object call(String name, String[] arguments) throws Exception {
        int dot = name.lastIndexOf('.');
        for (Method method : find(name.substring(0, dot)).getMethods()) {
            if (method.getName().equals(name.substring(dot + 1)) && method.getParameterCount() == arguments.length
                && Modifier.isStatic(method.getModifiers())) {
                Object[] values = new Object[arguments.length];
                for (int i = 0; i < values.length; i++) {
                    values[i] = argument(method.getParameterTypes()[i], arguments[i]);
                }
                return plain(method.invoke(null, values));
            }
        }
        throw new ClassNotFoundException(name);
    }

    private static Object argument(Class<?> type, String text) {
        if (type == String.class) {
            return text;
        } else if (type == String[].class) {
            return text.split(" ");
        } else if (type == int.class) {
            return Integer.valueOf(text);
        } else if (type == long.class) {
            return Long.valueOf(text);
        } else if (type == boolean.class) {
            return Boolean.valueOf(text);
        }
        throw new IllegalArgumentException("a parameter of type " + type);
    }

    // All fields of an object, and what they are in a new one: so much is not from the bytes.
    private static Object instance(Object object) throws ReflectiveOperationException {
        Map<String, Object> read = new TreeMap<>();
        read.put("fields", fields(object));
        read.put("defaults", fields(object.getClass().getDeclaredConstructor().newInstance()));
        return read;
    }

    private static Map<String, Object> fields(Object object) throws ReflectiveOperationException {
        Map<String, Object> fields = new TreeMap<>();
        for (Class<?> type = object.getClass(); type != Object.class; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) && !field.isSynthetic()) {
                    field.setAccessible(true);
                    fields.putIfAbsent(field.getName(), plain(field.get(object)));
                }
            }
        }
        return fields;
    }

    // Scalars as text, so that nothing is rounded or formatted on the way.
    private static Object plain(Object value) throws ReflectiveOperationException {
        if (value == null) {
            return null;
        } else if (value instanceof byte[]) {
            return hex((byte[]) value);
        } else if (value instanceof Object[]) {
            return plain(Arrays.asList((Object[]) value));
        } else if (value instanceof Enum) {
            return ((Enum<?>) value).name();
        } else if (value instanceof InetSocketAddress) {
            InetSocketAddress address = (InetSocketAddress) value;
            return hex(address.getAddress().getAddress()) + ":" + address.getPort();
        } else if (value instanceof Map) {
            Map<String, Object> map = new TreeMap<>();
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                map.put(String.valueOf(entry.getKey()), plain(entry.getValue()));
            }
            return map;
        } else if (value instanceof Iterable) {
            List<Object> list = new ArrayList<>();
            for (Object element : (Iterable<?>) value) {
                list.add(plain(element));
            }
            return list;
        } else if (value.getClass().getName().startsWith("org.apache.rocketmq")) {
            return fields(value);
        }
        return String.valueOf(value);
    }

    private static Class<?> find(String name) throws ClassNotFoundException {
        for (String candidate : PACKAGES) {
            try {
                return Class.forName("org.apache.rocketmq." + candidate + "." + name);
            } catch (ClassNotFoundException e) {
                // The next package may have it.
            }
        }
        throw new ClassNotFoundException(name);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length * 2);
        for (byte each : bytes) {
            text.append(Character.forDigit(each >> 4 & 15, 16)).append(Character.forDigit(each & 15, 16));
        }
        return text.toString();
    }

    private static byte[] unhex(String text) {
        byte[] bytes = new byte[text.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(text.substring(i * 2, i * 2 + 2), 16);
        }
        return bytes;
    }
}
