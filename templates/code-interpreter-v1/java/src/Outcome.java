import java.util.List;

/** What a cell has come to: a value, nothing, or an error. */
final class Outcome {
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
        return new Outcome(value, null, null, List.of());
    }

    static Outcome failed(String name, String value, List<String> traceback) {
        return new Outcome(null, name, value, traceback);
    }
}
