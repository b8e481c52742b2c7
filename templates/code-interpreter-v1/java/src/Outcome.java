import java.util.List;
import java.util.stream.Collectors;

/** What a cell has come to: a value, nothing, or an error. */
final class Outcome {
    /** Longer values and messages are cut: the kernel takes answers of up to 64 MiB. */
    private static final int MAX_TEXT_LENGTH = 8 * 1024 * 1024;
    /** Some code has all its statements in one line, which each frame would show. */
    private static final int MAX_LINE_LENGTH = 4096;

    final String value;
    final String errorName;
    final String errorValue;
    final List<String> traceback;

    private Outcome(String value, String errorName, String errorValue, List<String> traceback) {
        this.value = value;
        this.errorName = errorName;
        this.errorValue = errorValue;
        this.traceback = traceback;
    }

    /** @param value null for a cell whose last line has no value */
    static Outcome of(String value) {
        return new Outcome(value == null ? null : cut(value, MAX_TEXT_LENGTH), null, null, List.of());
    }

    static Outcome failed(String name, String value, List<String> traceback) {
        List<String> lines = traceback.stream().map(line -> cut(line, MAX_LINE_LENGTH)).collect(Collectors.toList());
        return new Outcome(null, name, cut(value, MAX_TEXT_LENGTH), lines);
    }

    private static String cut(String text, int length) {
        return text.length() <= length ? text : text.substring(0, length) + "...";
    }
}
