# Glee records which lines of the tree a demonstration executes, and whether the process that reports the result comes
# to its end.

path, root = ENV.values_at("GLEE_TRACE", "GLEE_TRACE_ROOT")
if path && root
  root = "#{File.realpath(root)}/"
  out = File.open(path, File::WRONLY | File::CREAT | File::APPEND, 0o600)
  out.sync = true
  seen = {}
  names = Hash.new do |known, file|
    real = File.exist?(file) ? File.realpath(file) : ""
    known[file] = real.start_with?(root) ? real.delete_prefix(root) : nil
  end
  texts = Hash.new { |known, file| known[file] = File.readlines(file) }
  # A definition is executed when its file is loaded, and what it defines is not.
  defines = lambda do |file, line|
    texts[file][line - 1].to_s.match?(/\A\s*(def|class|module|private|public|protected|attr_\w+)\b/)
  end
  tracer = TracePoint.new(:line) do |point|
    file, line = point.path, point.lineno
    next if seen[[file, line]] || names[file].nil?
    next if point.method_id.nil? && defines.call(file, line)

    seen[[file, line]] = true
    out.write("#{line}:#{names[file]}\n")
  end
  process = Process.pid
  out.write("began:#{process}\n")
  # The first handler is called last. A forked process has the handlers of its parent.
  at_exit { out.write("ended:#{process}\n") if Process.pid == process }
  tracer.enable
end
