<?php
// Glee records which lines are executed of a file that declares ticks.
(static function (): void {
    $path = getenv('GLEE_PROBE');
    $root = realpath((string) getenv('GLEE_TRACE_ROOT')) . '/';
    $seen = [];
    register_tick_function(static function () use ($path, $root, &$seen): void {
        $frame = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS, 1)[0];
        $file = $frame['file'] ?? '';
        $line = ($frame['line'] ?? 0) . ':' . substr($file, strlen($root));
        if (strncmp($file, $root, strlen($root)) === 0 && !isset($seen[$line])) {
            $seen[$line] = true;
            file_put_contents($path, $line . "\n", FILE_APPEND);
        }
    });
})();
