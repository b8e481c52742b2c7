import java.lang.reflect.Field;
import java.util.Map;

/** The variables of the process as System.getenv and the processes that it starts see them. They are properties too, which clients read. */
final class Variables {
    private static final Map<String, String> ENVIRONMENT = environment();

    private Variables() {}

    /** Makes those that the process was started with properties. */
    static void publish() {
        ENVIRONMENT.forEach((name, value) -> System.getProperties().putIfAbsent(name, value));
    }

    /** @param value null removes the variable */
    static void set(String name, String value) {
        if (name.isEmpty() || name.indexOf('=') >= 0 || name.indexOf('\0') >= 0) return;
        if (value == null) {
            ENVIRONMENT.remove(name);
            System.clearProperty(name);
        } else {
            ENVIRONMENT.put(name, value);
            System.setProperty(name, value);
        }
    }

    /** The map behind the one that System.getenv shows; the option --add-opens makes it reachable. */
    @SuppressWarnings("unchecked")
    private static Map<String, String> environment() {
        try {
            Field field = System.getenv().getClass().getDeclaredField("m");
            field.setAccessible(true);
            return (Map<String, String>) field.get(System.getenv());
        } catch (ReflectiveOperationException err) {
            throw new IllegalStateException(err);
        }
    }
}
