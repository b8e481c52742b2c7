import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import jdk.jshell.DeclarationSnippet;
import jdk.jshell.Diag;
import jdk.jshell.EvalException;
import jdk.jshell.JShell;
import jdk.jshell.JShellException;
import jdk.jshell.Snippet;
import jdk.jshell.SnippetEvent;
import jdk.jshell.SourceCodeAnalysis;
import jdk.jshell.SourceCodeAnalysis.Completeness;
import jdk.jshell.SourceCodeAnalysis.CompletionInfo;
import jdk.jshell.UnresolvedReferenceException;

/** Runs the snippets of a cell, and tells errors by the lines of the cell. */
final class Cells {
    private static final int MAX_FRAMES = 100;
    private static final int MAX_CAUSES = 10;
    private static final int MAX_DIAGNOSTICS = 20;

    private final JShell shell;
    private final CellExecution execution;
    /** Where each snippet stands, by its id in traces. */
    private final Map<String, Place> places = new HashMap<>();

    Cells(JShell shell, CellExecution execution) {
        this.shell = shell;
        this.execution = execution;
    }

    Outcome run(int number, String code) {
        List<DeclarationSnippet> declared = new ArrayList<>();
        Outcome outcome = run(number, code, declared);
        declared.forEach(this::noteUnresolved);
        return outcome;
    }

    private Outcome run(int number, String code, List<DeclarationSnippet> declared) {
        SourceCodeAnalysis analysis = shell.sourceCodeAnalysis();
        String value = null;
        for (int at = skipSpace(code, 0); at < code.length();) {
            CompletionInfo info = analysis.analyzeCompletion(code.substring(at));
            Completeness completeness = info.completeness();
            if (completeness == Completeness.EMPTY) break;
            Place place = new Place(number, lineAt(code, at), code);
            if (completeness == Completeness.DEFINITELY_INCOMPLETE || completeness == Completeness.CONSIDERED_INCOMPLETE) return incomplete(place);
            // Code that is no Java is one snippet, so that the compiler tells what is wrong.
            String source = completeness == Completeness.UNKNOWN || info.source() == null ? code.substring(at) : info.source();
            String rest = completeness == Completeness.UNKNOWN || info.remaining() == null ? "" : info.remaining();
            execution.takeValue();
            for (SnippetEvent event : evaluate(source, place)) {
                if (event.causeSnippet() != null) continue;
                Outcome failure = findFailure(event, place);
                if (failure != null) return failure;
                if (event.snippet() instanceof DeclarationSnippet) declared.add((DeclarationSnippet) event.snippet());
                value = hasValue(event.snippet()) ? execution.takeValue() : null;
            }
            if (execution.isInterrupted()) return interrupted(place);
            at = skipSpace(code, code.length() - rest.length());
        }
        return Outcome.of(value);
    }

    private List<SnippetEvent> evaluate(String source, Place place) {
        // The id is known after the snippet ran; traces are told later still.
        List<SnippetEvent> events = shell.eval(source);
        for (SnippetEvent event : events) if (event.causeSnippet() == null) places.put(event.snippet().id(), place);
        return events;
    }

    private Outcome findFailure(SnippetEvent event, Place place) {
        if (event.status() == Snippet.Status.REJECTED) return rejected(event.snippet(), place);
        JShellException thrown = event.exception();
        if (thrown == null) return null;
        if (execution.isInterrupted() && thrown instanceof EvalException && nameOf(thrown).equals("InterruptedException")) return interrupted(place);
        List<String> traceback = new ArrayList<>();
        trace(thrown, traceback);
        return Outcome.failed(nameOf(thrown), messageOf(thrown), traceback);
    }

    private Outcome rejected(Snippet snippet, Place place) {
        List<String> lines = new ArrayList<>();
        String first = null;
        for (Diag diagnostic : (Iterable<Diag>) shell.diagnostics(snippet).filter(Diag::isError).limit(MAX_DIAGNOSTICS)::iterator) {
            // The class around a snippet has no name.
            String message = diagnostic.getMessage(Locale.ENGLISH).replaceAll("(?m)\\R\\s*location: class\\s*$", "");
            if (first == null) first = message.lines().findFirst().orElse("");
            String source = snippet.source();
            int start = (int) Math.max(0, Math.min(diagnostic.getStartPosition(), source.length()));
            int end = (int) Math.max(start, Math.min(diagnostic.getEndPosition(), source.length()));
            int lineStart = source.lastIndexOf('\n', start - 1) + 1;
            int lineEnd = source.indexOf('\n', start) < 0 ? source.length() : source.indexOf('\n', start);
            lines.add(place.at(lineAt(source, start)) + ": error: " + message);
            lines.add("    " + source.substring(lineStart, lineEnd));
            lines.add("    " + " ".repeat(start - lineStart) + "^".repeat(Math.max(1, Math.min(end, lineEnd) - start)));
        }
        return Outcome.failed("CompilationException", first == null ? "the code cannot be compiled" : first, lines);
    }

    private static Outcome incomplete(Place place) {
        String text = "reached the end of the cell within a statement";
        return Outcome.failed("CompilationException", text, List.of(place.at(1) + ": error: " + text, "    " + place.sourceLine(1)));
    }

    private static Outcome interrupted(Place place) {
        return Outcome.failed("InterruptedException", "the cell was interrupted", List.of("InterruptedException: the cell was interrupted", "    at " + place.at(1)));
    }

    /** As JShell does, a declaration may name what is declared later, in its cell or in another one. */
    private void noteUnresolved(DeclarationSnippet snippet) {
        List<String> missing = new ArrayList<>();
        shell.unresolvedDependencies(snippet).forEach(missing::add);
        if (!missing.isEmpty()) System.err.println(snippet.name() + " cannot be used until this is declared: " + String.join(", ", missing));
    }

    private static boolean hasValue(Snippet snippet) {
        return snippet.kind() == Snippet.Kind.EXPRESSION || snippet.subKind() == Snippet.SubKind.TEMP_VAR_EXPRESSION_SUBKIND;
    }

    private void trace(JShellException thrown, List<String> lines) {
        Throwable at = thrown;
        for (int count = 0; at instanceof JShellException && count < MAX_CAUSES; count += 1, at = at.getCause()) {
            JShellException one = (JShellException) at;
            String message = messageOf(one);
            lines.add((count == 0 ? "" : "Caused by: ") + fullNameOf(one) + (message.isEmpty() ? "" : ": " + message));
            StackTraceElement[] frames = one.getStackTrace();
            for (int index = 0; index < Math.min(frames.length, MAX_FRAMES); index += 1) addFrame(frames[index], lines);
            if (frames.length > MAX_FRAMES) lines.add("    ... " + (frames.length - MAX_FRAMES) + " more");
        }
    }

    private void addFrame(StackTraceElement frame, List<String> lines) {
        String file = frame.getFileName();
        Place place = file != null && file.startsWith("#") ? places.get(file.substring(1)) : null;
        if (place == null) {
            lines.add("    at " + frame);
            return;
        }
        String owner = frame.getClassName().isEmpty() ? "" : frame.getClassName() + ".";
        String method = frame.getMethodName().startsWith("lambda$") ? "lambda" : frame.getMethodName() + "()";
        String name = frame.getMethodName().isEmpty() ? "" : owner + method + ", ";
        lines.add("    at " + name + place.at(frame.getLineNumber()));
        lines.add("        " + place.sourceLine(frame.getLineNumber()).strip());
    }

    private static String fullNameOf(JShellException thrown) {
        if (thrown instanceof EvalException) return ((EvalException) thrown).getExceptionClassName().replaceFirst("^REPL\\.\\$JShell\\$\\w+\\$", "");
        return "UnresolvedReferenceException";
    }

    private static String nameOf(JShellException thrown) {
        String name = fullNameOf(thrown);
        return name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1);
    }

    private String messageOf(JShellException thrown) {
        if (thrown instanceof UnresolvedReferenceException) {
            DeclarationSnippet snippet = ((UnresolvedReferenceException) thrown).getSnippet();
            List<String> missing = new ArrayList<>();
            shell.unresolvedDependencies(snippet).forEach(missing::add);
            return snippet.name() + " cannot be used until this is declared: " + String.join(", ", missing);
        }
        return thrown.getMessage() == null ? "" : thrown.getMessage();
    }

    private static int skipSpace(String code, int from) {
        int at = from;
        while (at < code.length() && Character.isWhitespace(code.charAt(at))) at += 1;
        return at;
    }

    /** The number of the line, from 1, of a position. */
    private static int lineAt(String text, int position) {
        return 1 + (int) text.substring(0, position).chars().filter(unit -> unit == '\n').count();
    }

    /** Where a snippet begins: the number of its cell, a line of it, and the code of the cell. */
    private static final class Place {
        private final int cell;
        private final int firstLine;
        private final String code;

        Place(int cell, int firstLine, String code) {
            this.cell = cell;
            this.firstLine = firstLine;
            this.code = code;
        }

        /** @param line of the snippet, from 1 */
        String at(int line) {
            return "cell " + cell + ", line " + (firstLine + line - 1);
        }

        String sourceLine(int line) {
            return code.lines().skip(Math.max(0, firstLine + line - 2)).findFirst().orElse("");
        }
    }
}
