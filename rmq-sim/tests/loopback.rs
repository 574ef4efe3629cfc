//! The model behind real sockets, and the program.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rmq_proto::command::{HeaderFormat, RemotingCommand};
use rmq_proto::frame::{FrameDecoder, MAX_FRAME_LEN};
use rmq_sim::loopback::{Server, ServerConfig};
use rmq_sim::model::{ClusterConfig, Fault};
use support::{encoded, route_request, send_header, send_request, with_opaque};

const PATIENCE: Duration = Duration::from_secs(10);

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn read(stream: &mut TcpStream, count: usize) -> Vec<RemotingCommand> {
    let mut decoder = FrameDecoder::new(MAX_FRAME_LEN);
    let (mut commands, mut buffer) = (Vec::new(), [0; 4096]);
    while commands.len() < count {
        // The end of a child process interrupts reads.
        let len = match stream.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read.unwrap(),
        };
        assert_ne!(len, 0, "closed after {} of {count}", commands.len());
        let mut data = Bytes::copy_from_slice(&buffer[..len]);
        while let Some(frame) = decoder.decode(&mut data).unwrap() {
            commands.push(RemotingCommand::decode(frame).unwrap());
        }
    }
    commands
}

fn ask(stream: &mut TcpStream, request: &RemotingCommand) -> RemotingCommand {
    stream.write_all(&encoded(request, HeaderFormat::Json)).unwrap();
    read(stream, 1).remove(0)
}

fn broker_of(server: &Server, index: usize) -> SocketAddr {
    server.cluster(|cluster| cluster.broker_address(index).parse().unwrap())
}

#[test]
fn routes_lead_to_brokers_that_store() {
    let cluster = ClusterConfig { brokers: 2, port: 0, ..ClusterConfig::default() };
    let server = Server::start(ServerConfig { cluster, watcher: None }).unwrap();
    let mut name_server = connect(server.name_server());
    let answer = ask(&mut name_server, &route_request("TBW102"));
    let body = String::from_utf8(answer.body.to_vec()).unwrap();
    for index in 0..2 {
        let address = broker_of(&server, index);
        assert!(body.contains(&address.to_string()), "{body}");
        let mut broker = connect(address);
        let frames: Vec<u8> = (0..300)
            .flat_map(|opaque| {
                encoded(&with_opaque(send_request(&send_header("T"), "x"), opaque), HeaderFormat::Json)
            })
            .collect();
        broker.write_all(&frames).unwrap();
        let opaques: Vec<_> =
            read(&mut broker, 300).iter().map(|answer| (answer.code, answer.opaque)).collect();
        assert_eq!(opaques, (0..300).map(|opaque| (0, opaque)).collect::<Vec<_>>());
    }
    assert_eq!(server.cluster(|cluster| cluster.stored().count()), 600);
}

#[test]
fn all_name_servers_serve() {
    let cluster = ClusterConfig { name_servers: 3, brokers: 2, port: 0, ..ClusterConfig::default() };
    let server = Server::start(ServerConfig { cluster, watcher: None }).unwrap();
    let addresses: Vec<_> = server.name_servers().iter().map(ToString::to_string).collect();
    let known: Vec<_> =
        server.cluster(|cluster| cluster.name_server_addresses().map(str::to_owned).collect());
    assert_eq!((addresses.len(), server.name_server()), (3, server.name_servers()[0]));
    assert_eq!(addresses, known);
    let mut streams: Vec<_> = server.name_servers().iter().map(|&address| connect(address)).collect();
    for stream in &mut streams {
        let answer = ask(stream, &route_request("TBW102"));
        let body = String::from_utf8(answer.body.to_vec()).unwrap();
        assert!(body.contains(&broker_of(&server, 1).to_string()), "{body}");
    }
    assert!(server.cluster(|cluster| cluster.stop(&addresses[1])));
    assert_eq!(streams[1].read_to_end(&mut Vec::new()).unwrap(), 0);
    assert!(matches!(connect(server.name_servers()[1]).read(&mut [0]), Ok(0) | Err(_)));
    assert_eq!(ask(&mut streams[2], &route_request("TBW102")).code, 0);
    assert!(server.cluster(|cluster| cluster.start(&addresses[1])));
    assert_eq!(ask(&mut connect(server.name_servers()[1]), &route_request("TBW102")).code, 17);
}

#[test]
fn bad_bytes_and_stopping_close_connections() {
    let server = Server::start(ServerConfig::default()).unwrap();
    let (mut bad, mut good) = (connect(server.name_server()), connect(server.name_server()));
    bad.write_all(&[0x80, 0, 0, 0]).unwrap();
    assert_eq!(bad.read_to_end(&mut Vec::new()).unwrap(), 0);
    ask(&mut good, &route_request("TBW102"));
    drop(server);
    assert!(matches!(good.read(&mut [0]), Ok(0) | Err(_)));
}

#[test]
fn an_address_that_refuses_closes_at_once() {
    let server = Server::start(ServerConfig::default()).unwrap();
    let address = broker_of(&server, 0);
    assert!(server.cluster(|cluster| cluster.fault(&address.to_string(), Fault::Refuse)));
    assert!(matches!(connect(address).read(&mut [0]), Ok(0) | Err(_)));
}

#[test]
fn the_watcher_is_told() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&lines);
    let watcher = move |event: &rmq_sim::model::ModelEvent| told.lock().unwrap().push(event.to_string());
    let config = ServerConfig { watcher: Some(Box::new(watcher)), ..ServerConfig::default() };
    let server = Server::start(config).unwrap();
    let mut broker = connect(broker_of(&server, 0));
    ask(&mut broker, &send_request(&send_header("T"), "x"));
    drop(broker);
    drop(server);
    let lines = lines.lock().unwrap().join("\n");
    for expected in ["opened from 127.0.0.1", "topic T created with 4 queues", "connection 0 ended"] {
        assert!(lines.contains(expected), "{lines}");
    }
}

#[test]
fn a_taken_port_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let cluster = ClusterConfig { port, ..ClusterConfig::default() };
    let error = Server::start(ServerConfig { cluster, watcher: None }).unwrap_err();
    assert_eq!(error.to_string(), format!("port {port} for the name server is taken on 127.0.0.1"));
    let cluster = ClusterConfig { port: 65_535, ..ClusterConfig::default() };
    let error = Server::start(ServerConfig { cluster, watcher: None }).unwrap_err();
    assert!(error.to_string().contains("65536") || error.to_string().contains("65535"), "{error}");
}

/// Ends the program with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rmq-model-broker"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn the_program_prints_addresses_and_events() {
    let arguments = ["--port", "0", "--brokers=2", "--profile", "4.9"];
    let mut running = Running(program(&arguments).spawn().unwrap());
    let mut lines = BufReader::new(running.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    let address = |name: &str| -> SocketAddr {
        let (_, rest) = first.split_once(&format!("{name}: ")).unwrap();
        rest.split(';').next().unwrap().parse().unwrap()
    };
    let answer = ask(&mut connect(address("name server")), &route_request("nix"));
    assert_eq!((answer.code, answer.version), (17, 407));
    let mut broker = connect(address("broker-b"));
    ask(&mut broker, &send_request(&send_header("T"), "x"));
    assert!(lines.any(|line| line == "broker-b: topic T created with 4 queues"));
}

#[test]
fn the_program_explains_itself() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (arguments, status, expected) in [
        (&["--help"][..], 0, "--no-auto-create"),
        (&["--port", port.as_str()], 1, "is taken"),
        (&["--port"], 2, "--port takes a number from 0 to 65535"),
        (&["--port", "99999"], 2, "not `99999`"),
        (&["--brokers", "0"], 2, "--brokers takes a number from 1 to 100, not `0`"),
        (&["--profile", "6"], 2, "4.9 and 5.3"),
        (&["--profile"], 2, "--profile takes a value"),
        (&["--user", "x"], 2, "--user takes KEY:SECRET"),
        (&["--user=:secret"], 2, "--user: the access key is empty"),
        (&["--quiet=yes"], 2, "--quiet takes no value"),
        (&["--colour"], 2, "`--colour` is not known"),
    ] {
        let output = program(arguments).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {text}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
}
